/*
 * sites.h - every place in src/sys that calls the system, and how it may fail.
 *
 * SITES: function, call, how often it stands there.  The test makes each of
 * them fail with each error of its call in ERRORS.
 * SURE: calls that cannot fail as they are made there, with the reason.
 * SURE_SITES: the same of one place, where the call can fail in others.
 *
 * tests/tidy/check_sites.py compares these with the sources.
 */
#ifndef ED_TEST_SITES_H
#define ED_TEST_SITES_H

/* clang-format off */
#define SITES(X)                                                                                   \
        X(ask, syscall, 1)                                                                         \
        X(await_end, poll, 1)                                                                      \
        X(await_events, ppoll, 1)                                                                  \
        X(bind_and_listen, chmod, 1)                                                               \
        X(bind_and_listen, listen, 1)                                                              \
        X(buffers_map, fstat, 1)                                                                   \
        X(buffers_map, mmap, 1)                                                                    \
        X(bytes_of, fstat, 1)                                                                      \
        X(call_of, close, 1)                                                                       \
        X(call_of, read, 1)                                                                        \
        X(checked, fstat, 1)                                                                       \
        X(checked, close, 1)                                                                       \
        X(check_program, faccessat, 1)                                                             \
        X(check_program, fstatat, 1)                                                               \
        X(close_all, close, 1)                                                                     \
        X(copy_above, fcntl, 1)                                                                    \
        X(count_fds, opendir, 1)                                                                   \
        X(count_fds, readdir, 1)                                                                   \
        X(ed_datagram_error, recvmsg, 1)                                                           \
        X(ed_datagram_option_value, getsockopt, 1)                                                 \
        X(ed_datagram_recv, recvmmsg, 1)                                                           \
        X(ed_datagram_send, sendmmsg, 1)                                                           \
        X(ed_fd_above_stdio, close, 1)                                                             \
        X(ed_fd_above_stdio, fcntl, 1)                                                             \
        X(ed_file_append, close, 1)                                                                \
        X(ed_file_append, write, 1)                                                                \
        X(ed_file_is_private, stat, 1)                                                             \
        X(ed_file_try, lseek, 1)                                                                   \
        X(ed_folder_has, opendir, 1)                                                               \
        X(ed_folder_has, readdir, 1)                                                               \
        X(ed_handler_install, sigaction, 1)                                                        \
        X(ed_is_terminal, isatty, 1)                                                               \
        X(ed_notify_add, inotify_add_watch, 1)                                                     \
        X(ed_notify_open, inotify_init1, 1)                                                        \
        X(ed_notify_read, read, 1)                                                                 \
        X(ed_notify_remove, inotify_rm_watch, 1)                                                   \
        X(ed_worker_packet_recv, recvmsg, 1)                                                       \
        X(ed_worker_packet_send, sendmsg, 1)                                                       \
        X(ed_unix_fds_credentials, getsockopt, 1)                                                  \
        X(ed_unix_fds_recv, recvmsg, 1)                                                            \
        X(ed_unix_fds_send, sendmsg, 1)                                                            \
        X(ed_path_unlock, close, 1)                                                                \
        X(ed_path_unlock, unlink, 1)                                                               \
        X(ed_process_end, waitid, 1)                                                               \
        X(ed_process_fd_close, close, 1)                                                           \
        X(ed_process_signal, kill, 1)                                                              \
        X(ed_process_signal, pidfd_send_signal, 1)                                                 \
        X(ed_process_start, close, 1)                                                              \
        X(ed_process_use, getrlimit, 1)                                                            \
        X(ed_process_use, getrusage, 1)                                                            \
        X(ed_random_bytes, getrandom, 1)                                                           \
        X(ed_signal_check, sigaction, 1)                                                           \
        X(ed_sleeper_fini, close, 1)                                                               \
        X(ed_sleeper_init, eventfd, 1)                                                             \
        X(ed_sleeper_sleep, syscall, 1)                                                            \
        X(ed_sockaddr_bind, bind, 1)                                                               \
        X(ed_socket_file_remove, unlink, 1)                                                        \
        X(ed_sockets_abort, close, 1)                                                              \
        X(ed_sockets_abort, setsockopt, 1)                                                         \
        X(ed_sockets_accept, accept4, 1)                                                           \
        X(ed_sockets_close, close, 1)                                                              \
        X(ed_sockets_connect, connect, 1)                                                          \
        X(ed_sockets_connect_result, getpeername, 1)                                               \
        X(ed_sockets_connect_result, getsockopt, 1)                                                \
        X(ed_sockets_endpoint, getpeername, 1)                                                     \
        X(ed_sockets_endpoint, getsockname, 1)                                                     \
        X(ed_sockets_listen, listen, 1)                                                            \
        X(ed_sockets_open, socket, 1)                                                              \
        X(ed_sockets_read, read, 1)                                                                \
        X(ed_sockets_recv, recv, 1)                                                                \
        X(ed_sockets_send, send, 1)                                                                \
        X(ed_sockets_send, sendmsg, 1)                                                             \
        X(ed_sockets_shutdown, shutdown, 1)                                                        \
        X(ed_sockets_write, write, 1)                                                              \
        X(ed_sys_called_from, backtrace, 1)                                                        \
        X(ed_sys_callers, backtrace, 1)                                                            \
        X(ed_sys_capture_begin, dup2, 1)                                                           \
        X(ed_sys_capture_begin, fcntl, 1)                                                          \
        X(ed_sys_capture_begin, memfd_create, 1)                                                   \
        X(ed_sys_capture_end, close, 1)                                                            \
        X(ed_sys_capture_end, lseek, 1)                                                            \
        X(ed_sys_capture_give_up, close, 1)                                                        \
        X(ed_sys_capture_give_up, pread, 1)                                                        \
        X(ed_sys_capture_give_up, write, 1)                                                        \
        X(ed_sys_command_line, open, 1)                                                            \
        X(ed_sys_command_line, read, 1)                                                            \
        X(ed_sys_copies_open, mmap, 1)                                                             \
        X(ed_sys_copies_run, fork, 1)                                                              \
        X(ed_sys_copies_threads, stat, 1)                                                          \
        X(ed_sys_cpu_count, sched_getaffinity, 1)                                                  \
        X(ed_sys_cpu_count, sysconf, 1)                                                            \
        X(ed_sys_epoll_new, epoll_create1, 1)                                                      \
        X(ed_sys_epoll_new, epoll_ctl, 1)                                                          \
        X(ed_sys_fd_name, readlink, 1)                                                             \
        X(ed_sys_fds, opendir, 1)                                                                  \
        X(ed_sys_fds, readdir, 1)                                                                  \
        X(ed_sys_guard_holds, close, 2)                                                            \
        X(ed_sys_guard_holds, pipe2, 1)                                                            \
        X(ed_sys_guard_holds, write, 1)                                                            \
        X(ed_sys_guard_install, madvise, 1)                                                        \
        X(ed_sys_guard_protect, mprotect, 1)                                                       \
        X(ed_sys_guard_remove, madvise, 1)                                                         \
        X(ed_sys_guard_remove, mprotect, 1)                                                        \
        X(ed_sys_is_inside, dladdr, 2)                                                             \
        X(ed_sys_is_inside_named, dladdr, 1)                                                       \
        X(ed_sys_map, madvise, 1)                                                                  \
        X(ed_sys_map, mmap, 1)                                                                     \
        X(ed_sys_map_above, madvise, 1)                                                            \
        X(ed_sys_map_above, mmap, 1)                                                               \
        X(ed_sys_map_above, mprotect, 1)                                                           \
        X(ed_sys_mappings_max, close, 1)                                                           \
        X(ed_sys_mappings_max, open, 1)                                                            \
        X(ed_sys_mappings_max, read, 1)                                                            \
        X(ed_sys_offsets_note, lseek, 1)                                                           \
        X(ed_sys_output_close, close, 1)                                                           \
        X(ed_sys_output_close, rename, 1)                                                          \
        X(ed_sys_peek, process_vm_readv, 1)                                                        \
        X(ed_sys_release, madvise, 1)                                                              \
        X(ed_sys_send_file_quietly, sendfile, 1)                                                   \
        X(ed_sys_stdout_keep, fcntl, 1)                                                            \
        X(ed_sys_stdout_kept, fcntl, 1)                                                            \
        X(ed_sys_symbol, dladdr, 1)                                                                \
        X(ed_sys_thread_end_watch, pthread_setspecific, 1)                                         \
        X(ed_sys_thread_stack, pthread_getattr_np, 1)                                              \
        X(ed_sys_unmap, munmap, 1)                                                                 \
        X(ed_sys_write_quietly, write, 1)                                                          \
        X(ed_thread_start, pthread_create, 1)                                                      \
        X(ed_thread_state, close, 1)                                                               \
        X(ed_zygote_prepare, fork, 1)                                                              \
        X(ed_zygote_start, close, 1)                                                               \
        X(eddy_process_buffer_free, close, 1)                                                      \
        X(eddy_process_buffer_free, munmap, 1)                                                     \
        X(eddy_process_buffer_new, mmap, 1)                                                        \
        X(epoll_free, close, 2)                                                                    \
        X(epoll_pollable, epoll_ctl, 1)                                                            \
        X(epoll_pollable, timerfd_create, 1)                                                       \
        X(epoll_set, epoll_ctl, 1)                                                                 \
        X(epoll_unwatch_foreign, close, 1)                                                         \
        X(epoll_wait_ns, epoll_pwait2, 1)                                                          \
        X(epoll_wait_ns, epoll_wait, 2)                                                            \
        X(epoll_watch_foreign, fcntl, 1)                                                           \
        X(error_has_room, poll, 1)                                                                 \
        X(fault_stack_make, sigaltstack, 2)                                                        \
        X(fds, stat, 1)                                                                            \
        X(file_actions, posix_spawn_file_actions_addclosefrom_np, 1)                               \
        X(file_actions, posix_spawn_file_actions_addfchdir_np, 1)                                  \
        X(file_at, lstat, 1)                                                                       \
        X(file_open, open, 1)                                                                      \
        X(folder_open, open, 1)                                                                    \
        X(handler_set, sigaction, 2)                                                               \
        X(handler_unset, sigaction, 2)                                                             \
        X(is_exported, dladdr, 1)                                                                  \
        X(is_file, fstat, 1)                                                                       \
        X(is_file, lstat, 1)                                                                       \
        X(is_file_of_program, fstat, 2)                                                            \
        X(is_loaded, dladdr, 1)                                                                    \
        X(is_stale, close, 1)                                                                      \
        X(is_stale, connect, 1)                                                                    \
        X(is_stale, socket, 1)                                                                     \
        X(list_once, getdents64, 1)                                                                \
        X(lock_once, close, 1)                                                                     \
        X(lock_once, flock, 1)                                                                     \
        X(lock_once, open, 1)                                                                      \
        X(make_ending_keys, pthread_key_create, 1)                                                 \
        X(memory_open, fcntl, 1)                                                                   \
        X(memory_open, ftruncate, 1)                                                               \
        X(memory_open, memfd_create, 1)                                                            \
        X(move_above, close, 1)                                                                    \
        X(on_sample, backtrace, 1)                                                                 \
        X(open_at, openat, 1)                                                                      \
        X(open_at_once, syscall, 1)                                                                \
        X(open_for_write, open, 1)                                                                 \
        X(open_locked_once, close, 1)                                                              \
        X(open_locked_once, flock, 1)                                                              \
        X(open_new, open, 1)                                                                       \
        X(option_set, setsockopt, 1)                                                               \
        X(pair_open, fcntl, 1)                                                                     \
        X(pair_open, socketpair, 1)                                                                \
        X(pause_ns, nanosleep, 1)                                                                  \
        X(perform, fchmod, 1)                                                                      \
        X(perform, ftruncate, 1)                                                                   \
        X(perform, mkdir, 1)                                                                       \
        X(perform, rmdir, 1)                                                                       \
        X(perform, unlink, 1)                                                                      \
        X(pidfd_find, pidfd_open, 1)                                                               \
        X(pipe_open, pipe2, 1)                                                                     \
        X(poll_now, poll, 1)                                                                       \
        X(quiet_end, sigtimedwait, 1)                                                              \
        X(read_at, pread, 1)                                                                       \
        X(read_begin, pread, 1)                                                                    \
        X(read_now, preadv2, 1)                                                                    \
        X(read_stat, close, 1)                                                                     \
        X(read_stat, open, 1)                                                                      \
        X(read_stat, read, 1)                                                                      \
        X(read_waiting, preadv, 1)                                                                 \
        X(read_waiting, readv, 1)                                                                  \
        X(rename_path, renameat2, 1)                                                               \
        X(restore, close, 1)                                                                       \
        X(restore, dup2, 1)                                                                        \
        X(set_nonblocking, fcntl, 2)                                                               \
        X(set_option, setsockopt, 1)                                                               \
        X(spawn_program, posix_spawn, 1)                                                           \
        X(spawn_program, posix_spawn_file_actions_init, 1)                                         \
        X(spawn_program, posix_spawnattr_init, 1)                                                  \
        X(start, fork, 1)                                                                          \
        X(stat_fd, fstat, 1)                                                                       \
        X(stat_path, fstatat, 1)                                                                   \
        X(status_take, read, 1)                                                                    \
        X(stream_action, posix_spawn_file_actions_adddup2, 3)                                      \
        X(stream_action, posix_spawn_file_actions_addopen, 2)                                      \
        X(streams_make, memfd_create, 2)                                                           \
        X(sync_fd, fdatasync, 1)                                                                   \
        X(sync_fd, fsync, 1)                                                                       \
        X(terminal_open, grantpt, 1)                                                               \
        X(terminal_open, posix_openpt, 1)                                                          \
        X(terminal_open, ptsname_r, 1)                                                             \
        X(terminal_open, unlockpt, 1)                                                              \
        X(wait_end, pidfd_open, 1)                                                                 \
        X(wait_slice, poll, 1)                                                                     \
        X(wait_slice, waitid, 1)                                                                   \
        X(watch_forks, pthread_atfork, 1)                                                          \
        X(worker_main, pthread_setname_np, 1)                                                      \
        X(write_waiting, pwritev, 1)                                                               \
        X(write_waiting, writev, 1)                                                                \
        X(zygote_run, pidfd_open, 1)

/* How a call may fail, EINTR first if it may.  No EAGAIN for a descriptor that never would. */
#define ERRORS(X)                                                                                  \
        X(accept4, EINTR, EAGAIN, ECONNABORTED, EPROTO, ENETDOWN, EMFILE, ENFILE, ENOBUFS, ENOMEM, \
          EPERM)                                                                                   \
        X(backtrace, EIO)                                                                          \
        X(bind, EADDRINUSE, EADDRNOTAVAIL, EACCES, ENOMEM)                                         \
        X(chmod, EPERM, EROFS, EIO)                                                                \
        X(close, EINTR, EIO)                                                                       \
        X(connect, EINTR, EAGAIN, ECONNREFUSED, EADDRNOTAVAIL, ENETUNREACH, ETIMEDOUT, ENOBUFS)    \
        X(dladdr, EIO)                                                                             \
        X(dup2, EBUSY, EMFILE)                                                                     \
        X(epoll_create1, EMFILE, ENFILE, ENOMEM)                                                   \
        X(epoll_ctl, ENOMEM, ENOSPC)                                                               \
        X(epoll_pwait2, EINTR, ENOSYS, EPERM)                                                      \
        X(epoll_wait, EINTR)                                                                       \
        X(eventfd, EMFILE, ENFILE, ENODEV, ENOMEM)                                                 \
        X(faccessat, EACCES, EIO, ENOMEM)                                                          \
        X(fchmod, EPERM, EROFS, EIO)                                                               \
        X(fcntl, EMFILE, EINVAL)                                                                   \
        X(fdatasync, EIO, ENOSPC, EDQUOT)                                                          \
        X(flock, EINTR, EWOULDBLOCK, ENOLCK)                                                       \
        X(fstat, ENOMEM)                                                                           \
        X(fstatat, EACCES, ENOENT, ENOMEM)                                                         \
        X(fsync, EIO, ENOSPC, EDQUOT)                                                              \
        X(ftruncate, EFBIG, EIO)                                                                   \
        X(getdents64, EIO, ENOENT, ENOMEM)                                                         \
        X(getpeername, ENOBUFS, ENOMEM)                                                            \
        X(getrandom, EINTR)                                                                        \
        X(getrlimit, EFAULT)                                                                       \
        X(getrusage, EFAULT)                                                                       \
        X(getsockname, ENOBUFS, ENOMEM)                                                            \
        X(getsockopt, ENOBUFS, ENOMEM)                                                             \
        X(grantpt, EACCES)                                                                         \
        X(inotify_add_watch, ENOENT, EACCES, ENOSPC, ENOMEM)                                       \
        X(inotify_init1, EMFILE, ENFILE, ENOMEM)                                                   \
        X(inotify_rm_watch, EINVAL)                                                                \
        X(isatty, ENOTTY)                                                                          \
        X(kill, EPERM)                                                                             \
        X(listen, EADDRINUSE, ENOMEM)                                                              \
        X(lseek, ESPIPE)                                                                           \
        X(lstat, EACCES, ENOENT, ENOMEM)                                                           \
        X(madvise, EINVAL, ENOMEM, EAGAIN)                                                         \
        X(mkdir, EACCES, ENOSPC, EROFS, EIO)                                                       \
        X(mmap, ENOMEM, EAGAIN)                                                                    \
        X(mprotect, ENOMEM, EACCES)                                                                \
        X(munmap, ENOMEM)                                                                          \
        X(nanosleep, EINTR)                                                                        \
        X(open, EINTR, ENOENT, EACCES, EMFILE, ENFILE, ENOMEM)                                     \
        X(openat, EINTR, ENOENT, EACCES, EMFILE, ENFILE, ENOMEM)                                   \
        X(opendir, EMFILE, ENFILE, ENOENT, EACCES, ENOMEM)                                         \
        X(pidfd_open, EMFILE, ENFILE, ENOSYS, EPERM, ESRCH)                                        \
        X(pidfd_send_signal, EPERM, ENOMEM)                                                        \
        X(pipe2, EMFILE, ENFILE, ENOMEM)                                                           \
        X(poll, EINTR, ENOMEM)                                                                     \
        X(posix_openpt, EMFILE, ENFILE, ENOSPC)                                                    \
        X(posix_spawn, EAGAIN, ENOMEM, EACCES)                                                     \
        X(posix_spawn_file_actions_addclosefrom_np, ENOMEM)                                        \
        X(posix_spawn_file_actions_adddup2, ENOMEM)                                                \
        X(posix_spawn_file_actions_addfchdir_np, ENOMEM)                                           \
        X(posix_spawn_file_actions_addopen, ENOMEM)                                                \
        X(posix_spawn_file_actions_init, ENOMEM)                                                   \
        X(posix_spawnattr_init, ENOMEM)                                                            \
        X(pread, EINTR, EIO, ENOMEM)                                                               \
        X(preadv, EINTR, EIO, ENOMEM)                                                              \
        X(preadv2, EINTR, EAGAIN, EOPNOTSUPP, ENOSYS, EIO)                                         \
        X(process_vm_readv, EPERM, ENOSYS, EFAULT)                                                 \
        X(pthread_atfork, ENOMEM)                                                                  \
        X(pthread_create, EAGAIN, ENOMEM)                                                          \
        X(pthread_getattr_np, ENOMEM, ENOENT)                                                      \
        X(pthread_key_create, EAGAIN, ENOMEM)                                                      \
        X(pthread_setname_np, EACCES, EMFILE)                                                      \
        X(pthread_setspecific, ENOMEM)                                                             \
        X(ptsname_r, ENOTTY)                                                                       \
        X(pwritev, EINTR, ENOSPC, EIO, EFBIG)                                                      \
        X(read, EINTR, EAGAIN, EIO, ENOMEM)                                                        \
        X(readdir, EIO, ENOMEM)                                                                    \
        X(readlink, EACCES, ENOENT, ENOMEM)                                                        \
        X(readv, EINTR, EIO, ENOMEM)                                                               \
        X(recv, EINTR, EAGAIN, ECONNRESET, ETIMEDOUT, EHOSTUNREACH, ENOMEM)                        \
        X(recvmmsg, EINTR, EAGAIN, ECONNREFUSED, ENOMEM)                                           \
        X(recvmsg, EINTR, EAGAIN, ECONNRESET, ENOMEM)                                              \
        X(rename, EACCES, EROFS, ENOSPC, EIO)                                                      \
        X(renameat2, EACCES, EROFS, ENOSPC, EIO)                                                   \
        X(rmdir, EACCES, EBUSY, EROFS, EIO)                                                        \
        X(sched_getaffinity, EINVAL)                                                               \
        X(send, EINTR, EAGAIN, EPIPE, ECONNRESET, ETIMEDOUT, ENOBUFS, ENOMEM)                      \
        X(sendfile, EINTR, EAGAIN, EPIPE, ECONNRESET, ETIMEDOUT, EINVAL, EIO, ENOMEM)              \
        X(sendmmsg, EINTR, EAGAIN, ECONNREFUSED, EPERM, ENOBUFS, ENOMEM)                           \
        X(sendmsg, EINTR, EAGAIN, EPIPE, ECONNRESET, ETIMEDOUT, ENOBUFS, ENOMEM)                   \
        X(setsockopt, EINVAL, ENOMEM, ENOBUFS)                                                     \
        X(shutdown, ENOTCONN)                                                                      \
        X(sigaction, EINVAL)                                                                       \
        X(sigaltstack, EPERM, ENOMEM)                                                              \
        X(sigtimedwait, EINTR)                                                                     \
        X(socket, EMFILE, ENFILE, ENOBUFS, ENOMEM, EACCES, EAFNOSUPPORT)                           \
        X(stat, EACCES, ENOENT, ENOMEM)                                                            \
        X(syscall, EINTR, EAGAIN, ESRCH)                                                           \
        X(sysconf, EINVAL)                                                                         \
        X(timerfd_create, EMFILE, ENFILE, ENODEV, ENOMEM)                                          \
        X(unlink, EACCES, EBUSY, EROFS, EIO)                                                       \
        X(unlockpt, ENOTTY)                                                                        \
        X(waitid, EINTR, ECHILD)                                                                   \
        X(write, EINTR, EAGAIN, EPIPE, ENOSPC, EIO, EFBIG)                                         \
        X(fork, EAGAIN, ENOMEM)                                                                    \
        X(memfd_create, EMFILE, ENFILE, ENOMEM)                                                    \
        X(ppoll, EINTR, ENOMEM)                                                                    \
        X(socketpair, EMFILE, ENFILE, ENOMEM)                                                      \
        X(writev, EINTR, ENOSPC, EIO, EFBIG)

#define SURE(X)                                                                                    \
        X(clock_gettime, "a clock that every kernel has")                                          \
        X(closedir, "of a folder that is open")                                                    \
        X(dirfd, "of a folder that is open")                                                       \
        X(dl_iterate_phdr, "always")                                                               \
        X(dlclose, "of a file that was opened")                                                    \
        X(dlopen, "of a file that is loaded: its count of users goes up")                          \
        X(dlsym, "without an answer no exceptions are kept")                                       \
        X(geteuid, "always")                                                                       \
        X(getpid, "always")                                                                        \
        X(getpwuid_r, "without an answer no file of the home folder is looked at")                 \
        X(gettid, "always")                                                                        \
        X(globals, "the C++ runtime's; always")                                                    \
        X(ioctl, "of a connection or a terminal; else its answer counts as none")                  \
        X(posix_spawn_file_actions_destroy, "of actions that were made")                           \
        X(posix_spawnattr_destroy, "of attributes that were made")                                 \
        X(posix_spawnattr_setflags, "with flags that the C library has")                           \
        X(posix_spawnattr_setsigdefault, "copies a set")                                           \
        X(posix_spawnattr_setsigmask, "copies a set")                                              \
        X(pthread_attr_destroy, "of an attribute that was filled")                                 \
        X(pthread_attr_getstack, "of an attribute that was filled")                                \
        X(pthread_cond_broadcast, "of a condition that is there")                                  \
        X(pthread_cond_destroy, "of a condition that nobody waits for")                            \
        X(pthread_cond_init, "glibc and musl fill in a struct")                                    \
        X(pthread_cond_signal, "of a condition that is there")                                     \
        X(pthread_cond_timedwait, "a time out is how it goes on")                                  \
        X(pthread_cond_wait, "with its mutex held; its caller asks again")                         \
        X(pthread_condattr_destroy, "of an attribute that was filled")                             \
        X(pthread_condattr_init, "fills in a struct")                                              \
        X(pthread_condattr_setclock, "a clock that every kernel has")                              \
        X(pthread_detach, "of a thread that was neither detached nor joined")                      \
        X(pthread_getcpuclockid, "of a thread that is there")                                      \
        X(pthread_join, "of a thread that was neither detached nor joined")                        \
        X(pthread_mutex_destroy, "of a mutex that nobody holds")                                   \
        X(pthread_mutex_init, "glibc and musl fill in a struct")                                   \
        X(pthread_mutex_lock, "of a mutex that is there, which the thread has not")                \
        X(pthread_mutex_unlock, "of a mutex that the thread has")                                  \
        X(pthread_once, "always")                                                                  \
        X(pthread_self, "always")                                                                  \
        X(pthread_sigmask, "with one of its three words")                                          \
        X(raise, "of a signal that has just come")                                                 \
        X(sched_yield, "always, on Linux")                                                         \
        X(sigaddset, "of a signal by its name")                                                    \
        X(sigdelset, "of a signal by its name")                                                    \
        X(sigemptyset, "always")                                                                   \
        X(sigfillset, "always")                                                                    \
        X(sigismember, "of a signal by its name")                                                  \
        X(signal, "the default handling of a signal that has just come")                           \
        X(sigpending, "always")                                                                    \
        X(timerfd_settime, "of a timer that is there, to a time in range")                         \
        X(fflush, "of the streams of the program, which finds their errors itself")                \
        X(getppid, "always")                                                                       \
        X(prctl, "of a number that the kernel has")                                                \
        X(sigprocmask, "with one of its three words")                                              \
        X(waitpid, "of a child that was not collected; repeated after a signal")

#define SURE_SITES(X)                                                                              \
        X(act_by_default, sigaction, 2, "of a signal that has just come")                          \
        X(ed_handler_now, sigaction, 1, "of a signal that the system has")                         \
        X(ed_handler_remove, sigaction, 1, "restores the saved handling")                          \
        X(ed_sleeper_wake, syscall, 1, "of a word that is there")                                  \
        X(ed_sys_command_line, close, 1, "of a file that was read")                                \
        X(ed_sys_copies_run, kill, 1, "of a child that was not collected")                         \
        X(wait_end, close, 1, "of a descriptor that was watched")                                  \
        X(copy_begin, close, 1, "a copy continues without it")                                     \
        X(copy_begin, dup2, 3, "a copy continues without it")                                      \
        X(copy_begin, open, 1, "a copy continues without it")                                      \
        X(copy_begin, setrlimit, 1, "a copy continues without it")                                 \
        X(copy_begin, setvbuf, 1, "a copy continues without it")                                   \
        X(ed_sys_capture_begin, close, 2, "only after another failure")                            \
        X(ed_sys_offsets_restore, lseek, 1, "to an offset that was noted")                         \
        X(ed_sys_signals_return, sigaction, 1, "of signals that can be handled")                   \
        X(ed_sys_signals_take, sigaction, 2, "of signals that can be handled")                     \
        X(streams_make, close, 2, "of files in memory")                                            \
        X(copy_begin, prctl, 1, "a copy continues without it")                                     \
        X(ed_sys_epoll_new, close, 1, "only after another failure")                                \
        X(ed_sys_page_bytes, sysconf, 1, "every system has pages")                                 \
        X(ed_sys_ticker_new, backtrace, 1, "what it finds is not used")                            \
        X(ed_sys_ticker_new, syscall, 1, "gettid() never fails")                                   \
        X(epoll_pollable, close, 1, "only after another failure")                                  \
        X(ed_sys_is_static, dladdr, 1, "a failure is the answer: the program is static")           \
        X(epoll_unwatch, epoll_ctl, 1, "takes out what was put in")                                \
        X(epoll_watch_foreign, close, 1, "only after another failure")                             \
        X(fds_close, close, 1, "only after another failure")                                       \
        X(fds_take, close, 2, "of a descriptor that has just come")                                \
        X(fault_stack_free, sigaltstack, 2, "asks, and takes out what was put in, from outside of it")\
        X(read_stat, sysconf, 2, "every system has pages and ticks")                               \
        X(signal_stack_left, sigaltstack, 1, "asks")                                               \
        X(kind_of_entry, fstatat, 1, "only on file systems that do not store the kind")            \
        X(open_part, openat, 1, "only where openat2(2) is forbidden")                              \
        X(open_by_parts, close, 1, "of a descriptor that was opened")                              \
        X(link_and_remove, linkat, 1, "only on file systems that must replace")                    \
        X(link_and_remove, unlink, 1, "only on file systems that must replace")                    \
        X(open_removed, mkostemp, 1, "only on file systems without unnamed files")                 \
        X(open_removed, unlink, 1, "only on file systems without unnamed files")                   \
        X(ed_sys_in_copy, nanosleep, 1, "a pause that may end early")                              \
        X(ed_sys_in_copy, kill, 1, "of a child that was not collected")                            \
        X(undo, kill, 1, "of a child that was not collected")                                      \
        X(become_worker, close, 4, "of descriptors that are open")                                 \
        X(become_worker, setrlimit, 1, "of the limit that main had")                               \
        X(become_worker, sigaction, 1, "of a signal that the system has")                          \
        X(buffers_map, close, 1, "of a descriptor that has just come")                             \
        X(buffers_unmap, munmap, 1, "takes out what was mapped")                                   \
        X(ed_worker_packet_close, close, 1, "of a descriptor that is open")                        \
        X(ed_zygote_end, close, 1, "of a descriptor that is open")                                 \
        X(ed_zygote_prepare, close, 4, "of descriptors that are open")                             \
        X(eddy_process_buffer_new, close, 1, "only after another failure")                         \
        X(fill_streams, close, 1, "of a descriptor that is open")                                  \
        X(fill_streams, open, 1, "without /dev/null the streams remain closed")                    \
        X(kill_workers, kill, 1, "of a child that was not collected")                              \
        X(limit_memory, close, 1, "of a file that is open")                                        \
        X(limit_memory, getrlimit, 1, "of a limit that the kernel has")                            \
        X(limit_memory, open, 1, "without /proc the call fails")                                   \
        X(limit_memory, read, 1, "without /proc the call fails")                                   \
        X(limit_memory, setrlimit, 1, "of a soft limit below the hard one")                        \
        X(limit_memory, sysconf, 1, "every system has pages")                                      \
        X(memory_open, close, 1, "only after another failure")                                     \
        X(pair_open, close, 1, "of a descriptor that is open")                                     \
        X(obey, close, 1, "of a descriptor that is open")                                          \
        X(lost, poll, 1, "a pause; a failure makes it shorter")                                    \
        X(ed_sys_output_path, getcwd, 1, "a failure leaves the path relative")                     \
        X(ed_sys_output_open, lstat, 1, "of a file that is not there, or else is opened")          \
        X(ed_sys_output_close, unlink, 1, "only after another failure")                            \
        X(ed_sys_capture_give_up, funlockfile, 1, "of a lock that is held")                        \
        X(ed_sys_capture_give_up, ftrylockfile, 1, "a failure leaves the buffer unwritten")        \
        X(order_send, poll, 1, "only if the zygote was stopped; a failure is its result")          \
        X(raise_limit, getrlimit, 1, "of a limit that the kernel has")                             \
        X(raise_limit, setrlimit, 1, "of a soft limit up to the hard one")                         \
        X(report, shutdown, 1, "of a socket that is connected, or whose peer has gone")            \
        X(spare_take, fcntl, 1, "a failure fails the order that took the number")                  \
        X(report, close, 1, "of a descriptor that is open")                                        \
        X(set_signals, sigaction, 2, "of signals that the system has")                             \
        X(write_wake, syscall, 1, "an eventfd that can take no more has woken its loop already")
/* clang-format on */

#endif
