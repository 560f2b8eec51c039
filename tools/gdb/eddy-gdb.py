"""eddy-gdb.py - tasks of eddy in gdb: of a live process, or of a core file.

    (gdb) source /usr/local/share/eddy/eddy-gdb.py
    (gdb) eddy tasks            all tasks of all runs, and what each waits for
    (gdb) eddy bt 7             the calls of task 7; options as those of backtrace
    (gdb) eddy bt 2.7           of the second run's, when there are several
    (gdb) eddy bt all           of all of them

Nothing of the process is called or changed, its registers neither: gdb receives
the place where the task was left as the caller of the innermost frame.  It needs the
debugging information of libeddy.

A core file is to be the kernel's (ulimit -c unlimited).  That of gdb's own
generate-core-file has no stacks where madvise guards them.
"""
import re
import time

import gdb
import gdb.unwinder

TASKS_MAX = 10000
FRAMES_MAX = 1000
READY, RUNNING, PARKED = 0, 1, 2
REGISTERS = {"aarch64": ("pc", "sp", "x29"), "i386:x86-64": ("rip", "rsp", "rbp")}


def struct(name):
    try:
        return gdb.lookup_type("struct " + name)
    except gdb.error:
        raise gdb.GdbError("eddy: the debugging information of libeddy is not here") from None


def container(link, name, member):
    """The struct of that name that contains a link."""
    offset = next(field.bitpos // 8 for field in struct(name).fields() if field.name == member)
    return gdb.Value(int(link) - offset).cast(struct(name).pointer())


def links(head):
    """The links of a list, each as the address it has."""
    at = head["next"]
    while int(at) != int(head.address):
        yield at
        at = at["next"]


def function_at(address):
    """The outermost function there, or None: a function may begin with one that is inlined into it."""
    block, function = gdb.block_for_pc(int(address)), None
    while block:
        function, block = block.function or function, block.superblock
    return function


def function_name(address):
    function = function_at(address)
    if function:
        return function.name
    symbol = gdb.execute(f"info symbol {int(address)}", to_string=True)
    return symbol.split(" in section")[0] if " in section" in symbol else hex(int(address))


class Living:
    """The tasks of all runs by their addresses; looked for when the first one is asked for."""

    def __init__(self, every):
        self.every, self.found, self.are_all = every, None, True

    def find(self, owner):
        if self.found is None:
            self.found = {}
            try:
                for task in tasks_in(self.every, self):
                    self.found[int(task.value)] = task
            except gdb.GdbError:
                self.are_all = False
        return self.found.get(int(owner))


class Task:
    def __init__(self, run, number_of_run, value, living):
        self.run, self.value, self.living = run, value, living
        self.number = f"{number_of_run}.{value['number']}" if number_of_run else str(value["number"])

    def name(self):
        face = self.value["face"]
        if face["is_named"]:
            # A name that was cut may end within a character.
            return face["name"].string("utf-8", "replace")
        return function_name(face["fn"])

    def state(self):
        return int(self.value["fiber"]["ready"]["state"])

    def context(self):
        return self.value["fiber"]["co"]

    def has_run(self):
        at = gdb.execute(f"info symbol {int(self.context()['resume'])}", to_string=True)
        return not at.startswith("ed_co_entry_asm in")

    def words(self):
        if self.state() == PARKED:
            what = self.value["fiber"]["waits_for"].string()
            return f"waits for {what}" + self.holder() + self.since()
        if self.state() == RUNNING:
            return "runs"
        return "is ready"

    def lock(self):
        """The lock that it waits for, or None; as awaited() of sync/lock.c has it."""
        fiber = self.value["fiber"]
        function = function_at(fiber["abort"])
        if function is None or function.name not in ("abort_wait", "abort_retake") or \
                not function.symtab.filename.endswith("sync/lock.c"):
            return None
        waiter = fiber["abort_arg"].cast(struct("ed_waiter").pointer())
        return waiter["item"].cast(struct("eddy_lock").pointer())

    def holder(self):
        lock = self.lock()
        if lock is None:
            return ""
        task = self.living.find(lock["owner"])
        if task and int(task.value["number"]) == int(lock["owner_number"]):
            return f", held by {task.name()} (task {task.number})"
        return ", left locked by a task that has ended" if self.living.are_all else ""

    def since(self):
        loop = self.run["loop"]
        if not loop["debug"]:
            return ""
        then, now = int(self.value["parked_ns"]), int(loop["now_ns"])
        least = "at least "
        if is_here() and loop["sys"]["name"].string() != "sim":
            now, least = time.monotonic_ns(), ""
        return f"; parked {least}{max(now - then, 0) // 1000000} ms"


def is_here():
    """Whether the process lives on this machine, so that its clock is ours."""
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection is not None and connection.type == "native"


def runs():
    symbol = gdb.lookup_static_symbol("ed_runs") or gdb.lookup_global_symbol("ed_runs")
    if not symbol:
        raise gdb.GdbError("eddy: the debugging information of libeddy is not here")
    return [container(link, "ed_run", "link") for link in links(symbol.value()["list"])]


def nodes(root):
    """The scopes and tasks below a node, as a walk of the tree meets them."""
    walks = [links(root["children"])]
    while walks:
        link = next(walks[-1], None)
        if link is None:
            walks.pop()
            continue
        node = container(link, "ed_node", "link")
        yield node
        walks.append(links(node["children"]))


def tasks_of(run, number_of_run, living):
    root = run["root"].address.cast(struct("ed_scope").pointer())["node"]
    if not int(root["owner"]):
        return
    for count, node in enumerate(nodes(root)):
        if count == TASKS_MAX:
            raise gdb.GdbError(f"eddy: there are more; {TASKS_MAX} scopes and tasks were looked at")
        owner = node["owner"]
        if int(owner["node"].address) == int(node):
            yield Task(run, number_of_run, owner, living)


def tasks_in(every, living):
    for i, run in enumerate(every, 1):
        yield from tasks_of(run, i if len(every) > 1 else None, living)


def tasks():
    every = runs()
    return tasks_in(every, Living(every))


class Selection:
    """Whatever thread and frame are selected meanwhile, these are afterwards."""

    def __enter__(self):
        self.thread, self.frame = gdb.selected_thread(), gdb.selected_frame()

    def __exit__(self, *_):
        self.thread.switch()
        if self.frame.is_valid():
            self.frame.select()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


def began_in(frame, function):
    """Whether a task's function is among a frame and its callers."""
    name = function_name(function)
    for _ in range(FRAMES_MAX):
        if frame is None or frame.name() == name:
            return frame is not None
        frame = frame.older()
    return True


class Parked(gdb.unwinder.Unwinder):
    """Says, while a context is set, that it called the thread's innermost frame."""

    def __init__(self):
        super().__init__("eddy-parked")
        self.context = self.at = None

    def __call__(self, pending):
        names = REGISTERS.get(pending.architecture().name())
        if self.context is None or names is None:
            return None
        if tuple(int(pending.read_register(name)) for name in names[:2]) != self.at:
            return None
        pc, sp = self.context["resume"], self.context["sp"]
        # Its frame must not seem to be outside the frame of the function that it called.
        info = pending.create_unwind_info(FrameId(sp - 16, pc))
        for name, value in zip(names, (pc, sp, self.context["frame"])):
            info.add_saved_register(name, value)
        return info

    def backtrace(self, task, options):
        """The lines of the task's frames, numbered from 0 as if it ran."""
        top = gdb.newest_frame()
        names = REGISTERS.get(top.architecture().name())
        if names is None:
            raise gdb.GdbError(f"eddy: not on this processor: {top.architecture().name()}")
        # The compiler may have put a call of its own in line: the registers are the same.
        at = tuple(int(top.read_register(name)) for name in names[:2])
        try:
            self.context, self.at = task.context(), at
            gdb.invalidate_cached_frames()
            skip, frame = 0, gdb.newest_frame()
            while frame and int(frame.read_register(names[1])) == at[1]:
                skip, frame = skip + 1, frame.older()
            began = began_in(frame, task.value["self"]["fn"])
            text = gdb.execute(f"with width 0 -- backtrace {options}", to_string=True)
        finally:
            self.context = self.at = None
            gdb.invalidate_cached_frames()
        lines, shown = [], False
        for line in text.splitlines():
            number = re.match(r"#(\d+)(\s+)", line)
            if number:
                shown = int(number[1]) >= skip
                line = f"#{int(number[1]) - skip:<3}" + line[number.end():]
            if shown:
                lines.append(line)
        if not began:
            lines.append(f"{function_name(task.value['self']['fn'])}, in which it began, is not "
                         "among them: it was left for its last call")
        return lines


PARKED_UNWINDER = Parked()
gdb.unwinder.register_unwinder(None, PARKED_UNWINDER, replace=True)


def thread_of(task):
    """The thread that runs a task's loop, which is selected then."""
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        try:
            loop = gdb.parse_and_eval("ed_loop_current")
        except gdb.error:
            continue
        if int(loop) == int(task.value["loop"]):
            return thread
    return None


def running_backtrace(task, options):
    if thread_of(task) is None:
        return ["it runs, on a thread that was not found: thread apply all backtrace"]
    return gdb.execute(f"with width 0 -- backtrace {options}", to_string=True).splitlines()


def print_backtrace(task, options):
    print(f"task {task.number}: {task.name()} {task.words()}")
    if task.state() == RUNNING:
        lines = running_backtrace(task, options)
    elif not task.has_run():
        lines = [f"it has not run yet; it begins in {function_name(task.value['self']['fn'])}"]
    else:
        lines = PARKED_UNWINDER.backtrace(task, options)
    for line in lines:
        print(line)


def memory_is_missing(error):
    return gdb.GdbError(f"eddy: {error}\na core file that gdb wrote leaves out stacks that are "
                        "guarded by madvise: have the kernel write it")


class EddyPrefix(gdb.Command):
    """Tasks of eddy: eddy tasks, eddy bt."""

    def __init__(self):
        super().__init__("eddy", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class EddyTasks(gdb.Command):
    """All tasks of all runs of the process: number, name, and what each waits for."""

    def __init__(self):
        super().__init__("eddy tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        try:
            self.list(runs())
        except gdb.MemoryError as error:
            raise memory_is_missing(error) from None

    def list(self, every):
        if not every:
            print("no run is open")
        living = Living(every)
        for i, run in enumerate(every, 1):
            poller = run["loop"]["sys"]["name"].string()
            mode = ", debug mode" if run["loop"]["debug"] else ""
            print(f"run {i} ({poller}{mode}):")
            for task in tasks_of(run, i if len(every) > 1 else None, living):
                print(f"  {task.number:>6}  {task.name()} {task.words()}")


class EddyBt(gdb.Command):
    """The calls of a task, as backtrace prints them: eddy bt NUMBER|all [OPTIONS]."""

    def __init__(self):
        super().__init__("eddy bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        wanted, _, options = argument.strip().partition(" ")
        if not wanted:
            raise gdb.GdbError("eddy bt: a task's number, from eddy tasks, or all")
        try:
            found = [task for task in tasks() if wanted in ("all", task.number)]
            for task in found:
                with Selection():
                    print_backtrace(task, options)
        except gdb.MemoryError as error:
            raise memory_is_missing(error) from None
        except gdb.error as error:
            raise gdb.GdbError(f"eddy bt: {error}") from None
        if not found and wanted != "all":
            raise gdb.GdbError(f"eddy bt: there is no task {wanted}")


EddyPrefix()
EddyTasks()
EddyBt()
