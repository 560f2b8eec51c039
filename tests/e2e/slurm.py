"""slurm - a cluster of Slurm on this machine, for one case: a controller and several nodes, of one user.

    with Slurm(eddy, nodes=4) as slurm:
        job = slurm.submit("shard.sh", "--array=0-7")
        slurm.scontrol("requeue", f"{job}_0")
        slurm.wait_until_idle()

All its files are in the folder of the case, and all its ports are free ones.  Nothing of it outlives the block.
"""
import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess

import e2e
from e2e import check, equal, wait_until

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "squeue")
# Daemons are in a folder that is not in each user's PATH.
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
# cred_expire is also the time after which a task that was requeued may begin again.
CONF = """ClusterName=eddy
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} State=UNKNOWN\n"


def environment_of(pid):
    """The environment that the process began with; empty if it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
        return dict(word.split("=", 1) for word in file.read().split("\0") if "=" in word)
    return {}


def processes_with(**variables):
    """The ids of the processes that have these variables."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if variables.items() <= environment_of(pid).items():
            yield int(pid)


def is_of_program(pid, path):
    with contextlib.suppress(OSError):
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(path)
    return False


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def kill(pid):
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def kill_all_with(**variables):
    """Kill these processes, and those that they start meanwhile."""
    def are_gone():
        pids = list(processes_with(**variables))
        for pid in pids:
            kill(pid)
        return not pids
    wait_until(are_gone, f"the end of the processes with {variables}")


class Slurm:
    def __init__(self, eddy, nodes=4, cpus=2):
        missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
        if missing:
            raise e2e.Skip(f"no {missing[0]} here (tools/install-deps interop)")
        self.folder = eddy.file("slurm")
        self.jobs = eddy.file("jobs")
        os.makedirs(self.folder + "/state")
        os.mkdir(self.jobs)
        self.names = [f"n{i}" for i in range(nodes)]
        self.cpus = cpus
        self.daemons = {}
        self.conf = self.folder + "/slurm.conf"
        # The tests may themselves run as a job.
        outer = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))}
        self.env = {**outer, "PATH": f"{self.tools(eddy)}:{PATH}", "SLURM_CONF": self.conf,
                    "EDDY_TEST_SLURM": self.folder}

    @staticmethod
    def tools(eddy):
        """A folder in which the program has its name."""
        folder = eddy.file("tools")
        os.makedirs(folder, exist_ok=True)
        os.symlink(eddy.path, folder + "/eddy")
        return folder

    def __enter__(self):
        host = socket.gethostname().split(".")[0]
        user = pwd.getpwuid(os.getuid()).pw_name
        with open(self.conf, "w", encoding="ascii") as file:
            file.write(CONF.format(host=host, user=user, port=e2e.free_port(), folder=self.folder))
            for name in self.names:
                file.write(NODE.format(name=name, host=host, port=e2e.free_port(), cpus=self.cpus))
        # No control groups are used. Without this file, a node looks for those of the machine, and may refuse them.
        with open(self.folder + "/cgroup.conf", "w", encoding="ascii") as file:
            file.write("CgroupPlugin=cgroup/v1\n")
        try:
            self.start("slurmctld", "slurmctld", "-D", "-f", self.conf)
            for name in self.names:
                os.mkdir(f"{self.folder}/spool.{name}")
                self.start(name, "slurmd", "-D", "-N", name, "-f", self.conf)
            wait_until(self.is_ready, "the nodes of Slurm")
        except AssertionError as error:
            # A container may refuse what Slurm needs. Nothing of eddy has run yet.
            self.__exit__()
            raise e2e.Skip(f"Slurm cannot run here: {error}") from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in self.daemons.values():
            child.kill()
            child.wait()
        kill_all_with(EDDY_TEST_SLURM=self.folder)

    def start(self, name, *command):
        with open(f"{self.folder}/{name}.out", "wb") as out:
            self.daemons[name] = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                                                  stderr=out, cwd=self.folder)

    def ask(self, *command):
        """The output of a command of Slurm, and its status."""
        for name, child in self.daemons.items():
            check(child.poll() is None or child.returncode == -signal.SIGKILL, name, "has ended:", self.last_of(name))
        done = subprocess.run(command, env=self.env, cwd=self.jobs, stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, text=True, timeout=e2e.LIMIT_S)
        return done.stdout + done.stderr, done.returncode

    def last_of(self, name):
        with open(f"{self.folder}/{name}.out", encoding="utf-8", errors="replace") as file:
            return file.read()[-1000:]

    def command(self, *command):
        text, status = self.ask(*command)
        equal(status, 0, command, text)
        return text

    def is_ready(self):
        return self.states() == ["idle"] * len(self.names)

    def states(self):
        text, status = self.ask("sinfo", "-h", "-N", "-o", "%t")
        return text.split() if status == 0 else []

    def submit(self, *options):
        """The number of the job."""
        return self.command("sbatch", "--parsable", *options).strip()

    def scontrol(self, *words):
        return self.command("scontrol", *words)

    def facts(self, task):
        """What `scontrol show job` has for a task of an array."""
        text = self.scontrol("show", "job", task)
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    def wait_until_idle(self):
        """Until no job is left in the queue."""
        def is_idle():
            text, status = self.ask("squeue", "-h")
            return status == 0 and text == ""
        wait_until(is_idle, "the end of the jobs", e2e.LIMIT_S)

    def process_of(self, task, path):
        """The process of that program in the task with this number."""
        for pid in processes_with(EDDY_TEST_SLURM=self.folder, SLURM_ARRAY_TASK_ID=str(task)):
            if is_of_program(pid, path):
                return pid
        raise AssertionError(f"the task {task} has no process of {path}")

    def lose_node_of(self, name):
        """Kill the node of a task with all that runs there; returns the numbers of its tasks."""
        node = self.facts(name)["NodeList"]
        self.daemons[node].kill()
        self.daemons[node].wait()
        pids = list(processes_with(EDDY_TEST_SLURM=self.folder, SLURMD_NODENAME=node))
        lost = {int(environment_of(pid)["SLURM_ARRAY_TASK_ID"]) for pid in pids}
        # First the step's daemon, the parent of the script, which would report its end.
        for pid in sorted({parent_of(pid) for pid in pids} - set(pids)) + pids:
            kill(pid)
        check(lost, f"{node} has no tasks")
        # The controller would find this out in half a minute.
        self.scontrol("update", "nodename=" + node, "state=down", "reason=lost")
        return lost
