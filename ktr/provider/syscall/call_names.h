/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the arguments of each call of call_rows.h are called, in its order, and what they are: a name alone is an
 * int, one with ^ an unsigned int, with - a long, with + an unsigned long or a size, with * an address.
 *
 * Names and types are those of tracefs below events/syscalls of Linux 6.18, but for descriptors, which are all
 * int here; of calls that a kernel may be built without, those of their manual pages. tests/cli/bsd/calls.sh
 * compares them where tracefs may be read.
 */
#ifndef KTR_CALL_NAMES_H
#define KTR_CALL_NAMES_H

#define KTR__CALL_NAMES(NAMES) \
	NAMES(read, "fd buf* count+") \
	NAMES(write, "fd buf* count+") \
	NAMES(open, "filename* flags mode^") \
	NAMES(close, "fd") \
	NAMES(stat, "filename* statbuf*") \
	NAMES(fstat, "fd statbuf*") \
	NAMES(lstat, "filename* statbuf*") \
	NAMES(poll, "ufds* nfds^ timeout_msecs") \
	NAMES(lseek, "fd offset- whence^") \
	NAMES(mmap, "addr* len+ prot+ flags+ fd off+") \
	NAMES(mprotect, "start* len+ prot+") \
	NAMES(munmap, "addr* len+") \
	NAMES(brk, "brk*") \
	NAMES(rt_sigaction, "sig act* oact* sigsetsize+") \
	NAMES(rt_sigprocmask, "how nset* oset* sigsetsize+") \
	NAMES(rt_sigreturn, "") \
	NAMES(ioctl, "fd cmd^ arg*") \
	NAMES(pread64, "fd buf* count+ pos-") \
	NAMES(pwrite64, "fd buf* count+ pos-") \
	NAMES(readv, "fd vec* vlen+") \
	NAMES(writev, "fd vec* vlen+") \
	NAMES(access, "filename* mode") \
	NAMES(pipe, "fildes*") \
	NAMES(select, "n inp* outp* exp* tvp*") \
	NAMES(sched_yield, "") \
	NAMES(mremap, "addr* old_len+ new_len+ flags+ new_addr*") \
	NAMES(msync, "start* len+ flags") \
	NAMES(mincore, "start* len+ vec*") \
	NAMES(madvise, "start* len_in+ behavior") \
	NAMES(shmget, "key size+ shmflg") \
	NAMES(shmat, "shmid shmaddr* shmflg") \
	NAMES(shmctl, "shmid cmd buf*") \
	NAMES(dup, "fildes") \
	NAMES(dup2, "oldfd newfd") \
	NAMES(pause, "") \
	NAMES(nanosleep, "rqtp* rmtp*") \
	NAMES(getitimer, "which value*") \
	NAMES(alarm, "seconds^") \
	NAMES(setitimer, "which value* ovalue*") \
	NAMES(getpid, "") \
	NAMES(sendfile, "out_fd in_fd offset* count+") \
	NAMES(socket, "family type protocol") \
	NAMES(connect, "fd uservaddr* addrlen") \
	NAMES(accept, "fd upeer_sockaddr* upeer_addrlen*") \
	NAMES(sendto, "fd buff* len+ flags^ addr* addr_len") \
	NAMES(recvfrom, "fd ubuf* size+ flags^ addr* addr_len*") \
	NAMES(sendmsg, "fd msg* flags^") \
	NAMES(recvmsg, "fd msg* flags^") \
	NAMES(shutdown, "fd how") \
	NAMES(bind, "fd umyaddr* addrlen") \
	NAMES(listen, "fd backlog") \
	NAMES(getsockname, "fd usockaddr* usockaddr_len*") \
	NAMES(getpeername, "fd usockaddr* usockaddr_len*") \
	NAMES(socketpair, "family type protocol usockvec*") \
	NAMES(setsockopt, "fd level optname optval* optlen") \
	NAMES(getsockopt, "fd level optname optval* optlen*") \
	NAMES(clone, "clone_flags+ newsp+ parent_tidptr* child_tidptr* tls+") \
	NAMES(fork, "") \
	NAMES(vfork, "") \
	NAMES(execve, "filename* argv* envp*") \
	NAMES(exit, "error_code") \
	NAMES(wait4, "upid stat_addr* options ru*") \
	NAMES(kill, "pid sig") \
	NAMES(uname, "name*") \
	NAMES(semget, "key nsems semflg") \
	NAMES(semop, "semid tsops* nsops^") \
	NAMES(semctl, "semid semnum cmd arg*") \
	NAMES(shmdt, "shmaddr*") \
	NAMES(msgget, "key msgflg") \
	NAMES(msgsnd, "msqid msgp* msgsz+ msgflg") \
	NAMES(msgrcv, "msqid msgp* msgsz+ msgtyp- msgflg") \
	NAMES(msgctl, "msqid cmd buf*") \
	NAMES(fcntl, "fd cmd^ arg*") \
	NAMES(flock, "fd cmd^") \
	NAMES(fsync, "fd") \
	NAMES(fdatasync, "fd") \
	NAMES(truncate, "path* length-") \
	NAMES(ftruncate, "fd length-") \
	NAMES(getdents, "fd dirent* count^") \
	NAMES(getcwd, "buf* size+") \
	NAMES(chdir, "filename*") \
	NAMES(fchdir, "fd") \
	NAMES(rename, "oldname* newname*") \
	NAMES(mkdir, "pathname* mode^") \
	NAMES(rmdir, "pathname*") \
	NAMES(creat, "pathname* mode^") \
	NAMES(link, "oldname* newname*") \
	NAMES(unlink, "pathname*") \
	NAMES(symlink, "oldname* newname*") \
	NAMES(readlink, "path* buf* bufsiz") \
	NAMES(chmod, "filename* mode^") \
	NAMES(fchmod, "fd mode^") \
	NAMES(chown, "filename* user^ group^") \
	NAMES(fchown, "fd user^ group^") \
	NAMES(lchown, "filename* user^ group^") \
	NAMES(umask, "mask") \
	NAMES(gettimeofday, "tv* tz*") \
	NAMES(getrlimit, "resource^ rlim*") \
	NAMES(getrusage, "who ru*") \
	NAMES(sysinfo, "info*") \
	NAMES(times, "tbuf*") \
	NAMES(ptrace, "request- pid- addr* data+") \
	NAMES(getuid, "") \
	NAMES(syslog, "type buf* len") \
	NAMES(getgid, "") \
	NAMES(setuid, "uid^") \
	NAMES(setgid, "gid^") \
	NAMES(geteuid, "") \
	NAMES(getegid, "") \
	NAMES(setpgid, "pid pgid") \
	NAMES(getppid, "") \
	NAMES(getpgrp, "") \
	NAMES(setsid, "") \
	NAMES(setreuid, "ruid^ euid^") \
	NAMES(setregid, "rgid^ egid^") \
	NAMES(getgroups, "gidsetsize grouplist*") \
	NAMES(setgroups, "gidsetsize grouplist*") \
	NAMES(setresuid, "ruid^ euid^ suid^") \
	NAMES(getresuid, "ruidp* euidp* suidp*") \
	NAMES(setresgid, "rgid^ egid^ sgid^") \
	NAMES(getresgid, "rgidp* egidp* sgidp*") \
	NAMES(getpgid, "pid") \
	NAMES(setfsuid, "uid^") \
	NAMES(setfsgid, "gid^") \
	NAMES(getsid, "pid") \
	NAMES(capget, "header* dataptr*") \
	NAMES(capset, "header* data*") \
	NAMES(rt_sigpending, "uset* sigsetsize+") \
	NAMES(rt_sigtimedwait, "uthese* uinfo* uts* sigsetsize+") \
	NAMES(rt_sigqueueinfo, "pid sig uinfo*") \
	NAMES(rt_sigsuspend, "unewset* sigsetsize+") \
	NAMES(sigaltstack, "uss* uoss*") \
	NAMES(utime, "filename* times*") \
	NAMES(mknod, "filename* mode^ dev^") \
	NAMES(uselib, "library*") \
	NAMES(personality, "personality^") \
	NAMES(ustat, "dev^ ubuf*") \
	NAMES(statfs, "pathname* buf*") \
	NAMES(fstatfs, "fd buf*") \
	NAMES(sysfs, "option arg1+ arg2+") \
	NAMES(getpriority, "which who") \
	NAMES(setpriority, "which who niceval") \
	NAMES(sched_setparam, "pid param*") \
	NAMES(sched_getparam, "pid param*") \
	NAMES(sched_setscheduler, "pid policy param*") \
	NAMES(sched_getscheduler, "pid") \
	NAMES(sched_get_priority_max, "policy") \
	NAMES(sched_get_priority_min, "policy") \
	NAMES(sched_rr_get_interval, "pid interval*") \
	NAMES(mlock, "start* len+") \
	NAMES(munlock, "start* len+") \
	NAMES(mlockall, "flags") \
	NAMES(munlockall, "") \
	NAMES(vhangup, "") \
	NAMES(modify_ldt, "func ptr* bytecount+") \
	NAMES(pivot_root, "new_root* put_old*") \
	NAMES(_sysctl, "args*") \
	NAMES(prctl, "option arg2+ arg3+ arg4+ arg5+") \
	NAMES(arch_prctl, "option arg2+") \
	NAMES(adjtimex, "txc_p*") \
	NAMES(setrlimit, "resource^ rlim*") \
	NAMES(chroot, "filename*") \
	NAMES(sync, "") \
	NAMES(acct, "name*") \
	NAMES(settimeofday, "tv* tz*") \
	NAMES(mount, "dev_name* dir_name* type* flags+ data*") \
	NAMES(umount2, "name* flags") \
	NAMES(swapon, "specialfile* swap_flags") \
	NAMES(swapoff, "specialfile*") \
	NAMES(reboot, "magic1 magic2 cmd^ arg*") \
	NAMES(sethostname, "name* len") \
	NAMES(setdomainname, "name* len") \
	NAMES(iopl, "level^") \
	NAMES(ioperm, "from+ num+ turn_on") \
	NAMES(create_module, "name* size+") \
	NAMES(init_module, "umod* len+ uargs*") \
	NAMES(delete_module, "name_user* flags^") \
	NAMES(get_kernel_syms, "table*") \
	NAMES(query_module, "name* which buf* bufsize+ ret*") \
	NAMES(quotactl, "cmd^ special* id addr*") \
	NAMES(nfsservctl, "cmd argp* resp*") \
	NAMES(getpmsg, "") \
	NAMES(putpmsg, "") \
	NAMES(afs_syscall, "") \
	NAMES(tuxcall, "") \
	NAMES(security, "") \
	NAMES(gettid, "") \
	NAMES(readahead, "fd offset- count+") \
	NAMES(setxattr, "pathname* name* value* size+ flags") \
	NAMES(lsetxattr, "pathname* name* value* size+ flags") \
	NAMES(fsetxattr, "fd name* value* size+ flags") \
	NAMES(getxattr, "pathname* name* value* size+") \
	NAMES(lgetxattr, "pathname* name* value* size+") \
	NAMES(fgetxattr, "fd name* value* size+") \
	NAMES(listxattr, "pathname* list* size+") \
	NAMES(llistxattr, "pathname* list* size+") \
	NAMES(flistxattr, "fd list* size+") \
	NAMES(removexattr, "pathname* name*") \
	NAMES(lremovexattr, "pathname* name*") \
	NAMES(fremovexattr, "fd name*") \
	NAMES(tkill, "pid sig") \
	NAMES(time, "tloc*") \
	NAMES(futex, "uaddr* op val^ utime* uaddr2* val3^") \
	NAMES(sched_setaffinity, "pid len^ user_mask_ptr*") \
	NAMES(sched_getaffinity, "pid len^ user_mask_ptr*") \
	NAMES(set_thread_area, "u_info*") \
	NAMES(io_setup, "nr_events^ ctxp*") \
	NAMES(io_destroy, "ctx+") \
	NAMES(io_getevents, "ctx_id+ min_nr- nr- events* timeout*") \
	NAMES(io_submit, "ctx_id+ nr- iocbpp*") \
	NAMES(io_cancel, "ctx_id+ iocb* result*") \
	NAMES(get_thread_area, "u_info*") \
	NAMES(lookup_dcookie, "cookie+ buffer* len+") \
	NAMES(epoll_create, "size") \
	NAMES(epoll_ctl_old, "") \
	NAMES(epoll_wait_old, "") \
	NAMES(remap_file_pages, "start* size+ prot+ pgoff+ flags+") \
	NAMES(getdents64, "fd dirent* count^") \
	NAMES(set_tid_address, "tidptr*") \
	NAMES(restart_syscall, "") \
	NAMES(semtimedop, "semid tsops* nsops^ timeout*") \
	NAMES(fadvise64, "fd offset- len+ advice") \
	NAMES(timer_create, "which_clock timer_event_spec* created_timer_id*") \
	NAMES(timer_settime, "timer_id flags new_setting* old_setting*") \
	NAMES(timer_gettime, "timer_id setting*") \
	NAMES(timer_getoverrun, "timer_id") \
	NAMES(timer_delete, "timer_id") \
	NAMES(clock_settime, "which_clock tp*") \
	NAMES(clock_gettime, "which_clock tp*") \
	NAMES(clock_getres, "which_clock tp*") \
	NAMES(clock_nanosleep, "which_clock flags rqtp* rmtp*") \
	NAMES(exit_group, "error_code") \
	NAMES(epoll_wait, "epfd events* maxevents timeout") \
	NAMES(epoll_ctl, "epfd op fd event*") \
	NAMES(tgkill, "tgid pid sig") \
	NAMES(utimes, "filename* utimes*") \
	NAMES(vserver, "") \
	NAMES(mbind, "start* len+ mode+ nmask* maxnode+ flags^") \
	NAMES(set_mempolicy, "mode nmask* maxnode+") \
	NAMES(get_mempolicy, "policy* nmask* maxnode+ addr* flags+") \
	NAMES(mq_open, "u_name* oflag mode^ u_attr*") \
	NAMES(mq_unlink, "u_name*") \
	NAMES(mq_timedsend, "mqdes u_msg_ptr* msg_len+ msg_prio^ u_abs_timeout*") \
	NAMES(mq_timedreceive, "mqdes u_msg_ptr* msg_len+ u_msg_prio* u_abs_timeout*") \
	NAMES(mq_notify, "mqdes u_notification*") \
	NAMES(mq_getsetattr, "mqdes u_mqstat* u_omqstat*") \
	NAMES(kexec_load, "entry+ nr_segments+ segments* flags+") \
	NAMES(waitid, "which upid infop* options ru*") \
	NAMES(add_key, "_type* _description* _payload* plen+ ringid") \
	NAMES(request_key, "_type* _description* _callout_info* destringid") \
	NAMES(keyctl, "option arg2+ arg3+ arg4+ arg5+") \
	NAMES(ioprio_set, "which who ioprio") \
	NAMES(ioprio_get, "which who") \
	NAMES(inotify_init, "") \
	NAMES(inotify_add_watch, "fd pathname* mask^") \
	NAMES(inotify_rm_watch, "fd wd") \
	NAMES(migrate_pages, "pid maxnode+ old_nodes* new_nodes*") \
	NAMES(openat, "dfd filename* flags mode^") \
	NAMES(mkdirat, "dfd pathname* mode^") \
	NAMES(mknodat, "dfd filename* mode^ dev^") \
	NAMES(fchownat, "dfd filename* user^ group^ flag") \
	NAMES(futimesat, "dfd filename* utimes*") \
	NAMES(newfstatat, "dfd filename* statbuf* flag") \
	NAMES(unlinkat, "dfd pathname* flag") \
	NAMES(renameat, "olddfd oldname* newdfd newname*") \
	NAMES(linkat, "olddfd oldname* newdfd newname* flags") \
	NAMES(symlinkat, "oldname* newdfd newname*") \
	NAMES(readlinkat, "dfd pathname* buf* bufsiz") \
	NAMES(fchmodat, "dfd filename* mode^") \
	NAMES(faccessat, "dfd filename* mode") \
	NAMES(pselect6, "n inp* outp* exp* tsp* sig*") \
	NAMES(ppoll, "ufds* nfds^ tsp* sigmask* sigsetsize+") \
	NAMES(unshare, "unshare_flags+") \
	NAMES(set_robust_list, "head* len+") \
	NAMES(get_robust_list, "pid head_ptr* len_ptr*") \
	NAMES(splice, "fd_in off_in* fd_out off_out* len+ flags^") \
	NAMES(tee, "fdin fdout len+ flags^") \
	NAMES(sync_file_range, "fd offset- nbytes- flags^") \
	NAMES(vmsplice, "fd uiov* nr_segs+ flags^") \
	NAMES(move_pages, "pid nr_pages+ pages* nodes* status* flags") \
	NAMES(utimensat, "dfd filename* utimes* flags") \
	NAMES(epoll_pwait, "epfd events* maxevents timeout sigmask* sigsetsize+") \
	NAMES(signalfd, "ufd user_mask* sizemask+") \
	NAMES(timerfd_create, "clockid flags") \
	NAMES(eventfd, "count^") \
	NAMES(fallocate, "fd mode offset- len-") \
	NAMES(timerfd_settime, "ufd flags utmr* otmr*") \
	NAMES(timerfd_gettime, "ufd otmr*") \
	NAMES(accept4, "fd upeer_sockaddr* upeer_addrlen* flags") \
	NAMES(signalfd4, "ufd user_mask* sizemask+ flags") \
	NAMES(eventfd2, "count^ flags") \
	NAMES(epoll_create1, "flags") \
	NAMES(dup3, "oldfd newfd flags") \
	NAMES(pipe2, "fildes* flags") \
	NAMES(inotify_init1, "flags") \
	NAMES(preadv, "fd vec* vlen+ pos_l+ pos_h+") \
	NAMES(pwritev, "fd vec* vlen+ pos_l+ pos_h+") \
	NAMES(rt_tgsigqueueinfo, "tgid pid sig uinfo*") \
	NAMES(perf_event_open, "attr_uptr* pid cpu group_fd flags+") \
	NAMES(recvmmsg, "fd mmsg* vlen^ flags^ timeout*") \
	NAMES(fanotify_init, "flags^ event_f_flags^") \
	NAMES(fanotify_mark, "fanotify_fd flags^ mask+ dfd pathname*") \
	NAMES(prlimit64, "pid resource^ new_rlim* old_rlim*") \
	NAMES(name_to_handle_at, "dfd name* handle* mnt_id* flag") \
	NAMES(open_by_handle_at, "mountdirfd handle* flags") \
	NAMES(clock_adjtime, "which_clock utx*") \
	NAMES(syncfs, "fd") \
	NAMES(sendmmsg, "fd mmsg* vlen^ flags^") \
	NAMES(setns, "fd flags") \
	NAMES(getcpu, "cpup* nodep* unused*") \
	NAMES(process_vm_readv, "pid lvec* liovcnt+ rvec* riovcnt+ flags+") \
	NAMES(process_vm_writev, "pid lvec* liovcnt+ rvec* riovcnt+ flags+") \
	NAMES(kcmp, "pid1 pid2 type idx1+ idx2+") \
	NAMES(finit_module, "fd uargs* flags") \
	NAMES(sched_setattr, "pid uattr* flags^") \
	NAMES(sched_getattr, "pid uattr* usize^ flags^") \
	NAMES(renameat2, "olddfd oldname* newdfd newname* flags^") \
	NAMES(seccomp, "op^ flags^ uargs*") \
	NAMES(getrandom, "ubuf* len+ flags^") \
	NAMES(memfd_create, "uname* flags^") \
	NAMES(kexec_file_load, "kernel_fd initrd_fd cmdline_len+ cmdline* flags+") \
	NAMES(bpf, "cmd uattr* size^") \
	NAMES(execveat, "fd filename* argv* envp* flags") \
	NAMES(userfaultfd, "flags") \
	NAMES(membarrier, "cmd flags^ cpu_id") \
	NAMES(mlock2, "start* len+ flags") \
	NAMES(copy_file_range, "fd_in off_in* fd_out off_out* len+ flags^") \
	NAMES(preadv2, "fd vec* vlen+ pos_l+ pos_h+ flags") \
	NAMES(pwritev2, "fd vec* vlen+ pos_l+ pos_h+ flags") \
	NAMES(pkey_mprotect, "start* len+ prot+ pkey") \
	NAMES(pkey_alloc, "flags+ init_val+") \
	NAMES(pkey_free, "pkey") \
	NAMES(statx, "dfd filename* flags^ mask^ buffer*") \
	NAMES(io_pgetevents, "ctx_id+ min_nr- nr- events* timeout* usig*") \
	NAMES(rseq, "rseq* rseq_len^ flags sig^") \
	NAMES(pidfd_send_signal, "pidfd sig info* flags^") \
	NAMES(io_uring_setup, "entries^ params*") \
	NAMES(io_uring_enter, "fd to_submit^ min_complete^ flags^ argp* argsz+") \
	NAMES(io_uring_register, "fd opcode^ arg* nr_args^") \
	NAMES(open_tree, "dfd filename* flags^") \
	NAMES(move_mount, "from_dfd from_pathname* to_dfd to_pathname* flags^") \
	NAMES(fsopen, "_fs_name* flags^") \
	NAMES(fsconfig, "fd cmd^ _key* _value* aux") \
	NAMES(fsmount, "fs_fd flags^ attr_flags^") \
	NAMES(fspick, "dfd path* flags^") \
	NAMES(pidfd_open, "pid flags^") \
	NAMES(clone3, "uargs* size+") \
	NAMES(close_range, "fd max_fd flags^") \
	NAMES(openat2, "dfd filename* how* usize+") \
	NAMES(pidfd_getfd, "pidfd fd flags^") \
	NAMES(faccessat2, "dfd filename* mode flags") \
	NAMES(process_madvise, "pidfd vec* vlen+ behavior flags^") \
	NAMES(epoll_pwait2, "epfd events* maxevents timeout* sigmask* sigsetsize+") \
	NAMES(mount_setattr, "dfd path* flags^ uattr* usize+") \
	NAMES(quotactl_fd, "fd cmd^ id addr*") \
	NAMES(landlock_create_ruleset, "attr* size+ flags^") \
	NAMES(landlock_add_rule, "ruleset_fd rule_type rule_attr* flags^") \
	NAMES(landlock_restrict_self, "ruleset_fd flags^") \
	NAMES(memfd_secret, "flags^") \
	NAMES(process_mrelease, "pidfd flags^") \
	NAMES(futex_waitv, "waiters* nr_futexes^ flags^ timeout* clockid") \
	NAMES(set_mempolicy_home_node, "start* len+ home_node+ flags+") \
	NAMES(cachestat, "fd cstat_range* cstat* flags^") \
	NAMES(fchmodat2, "dfd filename* mode^ flags^") \
	NAMES(map_shadow_stack, "addr* size+ flags^") \
	NAMES(futex_wake, "uaddr* mask+ nr flags^") \
	NAMES(futex_wait, "uaddr* val+ mask+ flags^ timeout* clockid") \
	NAMES(futex_requeue, "waiters* flags^ nr_wake nr_requeue") \
	NAMES(statmount, "req* buf* bufsize+ flags^") \
	NAMES(listmount, "req* mnt_ids* nr_mnt_ids+ flags^") \
	NAMES(lsm_get_self_attr, "attr^ ctx* size* flags^") \
	NAMES(lsm_set_self_attr, "attr^ ctx* size^ flags^") \
	NAMES(lsm_list_modules, "ids* size* flags^") \
	NAMES(mseal, "start* len+ flags+") \
	NAMES(setxattrat, "dfd pathname* at_flags^ name* uargs* usize+") \
	NAMES(getxattrat, "dfd pathname* at_flags^ name* uargs* usize+") \
	NAMES(listxattrat, "dfd pathname* at_flags^ list* size+") \
	NAMES(removexattrat, "dfd pathname* at_flags^ name*") \
	NAMES(open_tree_attr, "dfd filename* flags^ uattr* usize+") \
	NAMES(file_getattr, "dfd filename* ufattr* usize+ at_flags^") \
	NAMES(file_setattr, "dfd filename* ufattr* usize+ at_flags^")

#endif
