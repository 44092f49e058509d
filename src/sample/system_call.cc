// The table of system calls that wait.
#include "sample/system_call.h"

#include <algorithm>
#include <array>

#include <sys/syscall.h>

namespace fathom::sample {
namespace {

struct Row {
  std::int64_t number;
  SystemCall call;
};

constexpr auto kFile = Operand::file;
constexpr auto kPath = Operand::path;
constexpr bool kToDisk = true;

// A machine has not all of them.
constexpr std::array kRows = {
    Row{SYS_read, {"read", kFile}},
    Row{SYS_write, {"write", kFile}},
    Row{SYS_readv, {"readv", kFile}},
    Row{SYS_writev, {"writev", kFile}},
    Row{SYS_pread64, {"pread", kFile}},
    Row{SYS_pwrite64, {"pwrite", kFile}},
    Row{SYS_preadv, {"preadv", kFile}},
    Row{SYS_pwritev, {"pwritev", kFile}},
    Row{SYS_ioctl, {"ioctl", kFile}},
    Row{SYS_fcntl, {"fcntl", kFile}},
    Row{SYS_flock, {"flock", kFile}},
    Row{SYS_fsync, {"fsync", kFile, kToDisk}},
    Row{SYS_fdatasync, {"fdatasync", kFile, kToDisk}},
    Row{SYS_ftruncate, {"ftruncate", kFile}},
    Row{SYS_getdents64, {"getdents", kFile}},
    Row{SYS_accept, {"accept", kFile}},
    Row{SYS_accept4, {"accept", kFile}},
    Row{SYS_connect, {"connect", kFile}},
    Row{SYS_recvfrom, {"recvfrom", kFile}},
    Row{SYS_recvmsg, {"recvmsg", kFile}},
    Row{SYS_recvmmsg, {"recvmmsg", kFile}},
    Row{SYS_sendto, {"sendto", kFile}},
    Row{SYS_sendmsg, {"sendmsg", kFile}},
    Row{SYS_sendmmsg, {"sendmmsg", kFile}},
    Row{SYS_sendfile, {"sendfile", kFile}},
    Row{SYS_splice, {"splice", kFile}},
    Row{SYS_copy_file_range, {"copy_file_range", kFile}},
    Row{SYS_epoll_pwait, {"epoll_wait", kFile}},
    Row{SYS_io_uring_enter, {"io_uring_enter", kFile}},
    Row{SYS_mq_timedreceive, {"mq_receive", kFile}},
    Row{SYS_mq_timedsend, {"mq_send", kFile}},
    Row{SYS_ppoll, {"poll", Operand::polled}},
    Row{SYS_pselect6, {"select", Operand::select}},
    Row{SYS_futex, {"futex", Operand::futex}},
    Row{SYS_nanosleep, {"nanosleep", Operand::sleep}},
    Row{SYS_clock_nanosleep, {"clock_nanosleep", Operand::sleep}},
    Row{SYS_wait4, {"wait4", Operand::child}},
    Row{SYS_waitid, {"waitid", Operand::child_by}},
    Row{SYS_rt_sigtimedwait, {"sigtimedwait", Operand::none}},
    Row{SYS_rt_sigsuspend, {"sigsuspend", Operand::none}},
    Row{SYS_semtimedop, {"semtimedop", Operand::none}},
    Row{SYS_semop, {"semop", Operand::none}},
    Row{SYS_msgrcv, {"msgrcv", Operand::none}},
    Row{SYS_msgsnd, {"msgsnd", Operand::none}},
    Row{SYS_openat, {"openat", kPath}},
    Row{SYS_unlinkat, {"unlinkat", kPath}},
    Row{SYS_renameat2, {"renameat2", kPath}},
    Row{SYS_mkdirat, {"mkdirat", kPath}},
    Row{SYS_linkat, {"linkat", kPath}},
    Row{SYS_symlinkat, {"symlinkat", kPath}},
    Row{SYS_readlinkat, {"readlinkat", kPath}},
    Row{SYS_faccessat, {"faccessat", kPath}},
    Row{SYS_newfstatat, {"newfstatat", kPath}},
    Row{SYS_statx, {"statx", kPath}},
    Row{SYS_truncate, {"truncate", kPath}},
    Row{SYS_msync, {"msync", kPath, kToDisk}},
    Row{SYS_close, {"close", kFile}},
    Row{SYS_fstat, {"fstat", kFile}},
    Row{SYS_fallocate, {"fallocate", kFile}},
    Row{SYS_sync_file_range, {"sync_file_range", kFile, kToDisk}},
    Row{SYS_syncfs, {"syncfs", kFile, kToDisk}},
    Row{SYS_madvise, {"madvise", Operand::none}},
    Row{SYS_mmap, {"mmap", Operand::none}},
    Row{SYS_munmap, {"munmap", Operand::none}},
    Row{SYS_io_getevents, {"io_getevents", Operand::none}},
    Row{SYS_fadvise64, {"fadvise", kFile}},
    Row{SYS_sync, {"sync", kPath, kToDisk}},
    Row{SYS_execve, {"execve", Operand::none}},
    Row{SYS_clone, {"clone", Operand::none}},
    Row{SYS_exit_group, {"exit_group", Operand::none}},
#ifdef SYS_poll
    Row{SYS_poll, {"poll", Operand::polled}},
#endif
#ifdef SYS_select
    Row{SYS_select, {"select", Operand::select}},
#endif
#ifdef SYS_epoll_wait
    Row{SYS_epoll_wait, {"epoll_wait", kFile}},
#endif
#ifdef SYS_epoll_pwait2
    Row{SYS_epoll_pwait2, {"epoll_wait", kFile}},
#endif
#ifdef SYS_pause
    Row{SYS_pause, {"pause", Operand::none}},
#endif
#ifdef SYS_open
    Row{SYS_open, {"open", kPath}},
#endif
#ifdef SYS_unlink
    Row{SYS_unlink, {"unlink", kPath}},
#endif
#ifdef SYS_rename
    Row{SYS_rename, {"rename", kPath}},
#endif
#ifdef SYS_renameat
    Row{SYS_renameat, {"renameat", kPath}},
#endif
#ifdef SYS_mkdir
    Row{SYS_mkdir, {"mkdir", kPath}},
#endif
#ifdef SYS_rmdir
    Row{SYS_rmdir, {"rmdir", kPath}},
#endif
#ifdef SYS_link
    Row{SYS_link, {"link", kPath}},
#endif
#ifdef SYS_stat
    Row{SYS_stat, {"stat", kPath}},
#endif
#ifdef SYS_lstat
    Row{SYS_lstat, {"lstat", kPath}},
#endif
#ifdef SYS_access
    Row{SYS_access, {"access", kPath}},
#endif
#ifdef SYS_readlink
    Row{SYS_readlink, {"readlink", kPath}},
#endif
#ifdef SYS_vfork
    Row{SYS_vfork, {"vfork", Operand::none}},
#endif
#ifdef SYS_futex_waitv
    Row{SYS_futex_waitv, {"futex_waitv", Operand::none}},
#endif
};

}  // namespace

SystemCall system_call(std::int64_t number) {
  const auto* const at = std::ranges::find(kRows, number, &Row::number);
  return at == kRows.end() ? SystemCall{} : at->call;
}

}  // namespace fathom::sample
