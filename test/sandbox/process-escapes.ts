/**
 * More escape attempts, each a line of shell that succeeds where the way is open: through the first process of the
 * sandbox, inherited descriptors, system calls that a filter cannot inspect, and services of the machine.
 */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Attempt, all, type EscapeFacts, root, some } from './attempt.ts'

/** Numbers of system calls that differ by architecture. */
const CALLS = {
  x64: { setxattr: 188, personality: 135, prlimit: 302, chmod: 268, shmget: 29, msgget: 68 },
  arm64: { setxattr: 5, personality: 92, prlimit: 261, chmod: 53, shmget: 194, msgget: 186 },
}[process.arch as 'x64' | 'arm64']

const PIDFD_OPEN = 434
const PIDFD_SEND_SIGNAL = 424
const PIDFD_GETFD = 438
const CLONE3 = 435
const OPENAT2 = 437
const FCHMODAT2 = 452

const perl = (script: string): string => `perl -e '${script}'`

/** clone3 takes its flags from memory, which a filter cannot see; the child exits at once. */
const cloneWith = (flags: number): string =>
  perl(
    [
      `my $s = pack("Q8", ${flags}, 0, 0, 0, 17, 0, 0, 0); my $p = syscall(${CLONE3}, $s, 64);`,
      `exit 0 if $p == 0; wait; exit($p > 0 ? 0 : 1)`,
    ].join(' '),
  )

export function processAttempts(facts: EscapeFacts): readonly Attempt[] {
  return [
    ...firstProcessAttempts(),
    ...outsideProcessAttempts(facts),
    ...cloneAttempts(),
    ...setuidAttempts(),
    ...kernelFileAttempts(),
    ...serviceAttempts(facts),
    ...pathAttempts(facts),
  ]
}

function firstProcessAttempts(): readonly Attempt[] {
  const { dev, ino } = statSync('/dev/null')
  return [
    some('changes the program of the first process', 'chmod --reference=/proc/1/exe /proc/1/exe'),
    some('inspects the first process', 'test -e /proc/1/exe || test -e /proc/1/fd || test -e /proc/1/task/1/root'),
    some('reads the arguments of the first process', "tr '\\0' ' ' < /proc/1/cmdline | grep -q ."),
    root(
      'changes the mode of an inherited device of the machine',
      [
        `for f in /proc/self/fd/* /proc/1/fd/*; do [ "$(stat -Lc %d:%i $f)" = ${dev}:${ino} ] &&`,
        `chmod 666 $f && exit 0; done; exit 1`,
      ].join(' '),
    ),
    some(
      'takes a descriptor from the first process',
      perl(
        [
          `my $p = syscall(${PIDFD_OPEN}, 1, 0); for (0 .. 20) {`,
          `exit 0 if syscall(${PIDFD_GETFD}, $p, $_, 0) >= 0 } exit 1`,
        ].join(' '),
      ),
    ),
  ]
}

function outsideProcessAttempts({ victim }: EscapeFacts): readonly Attempt[] {
  return [
    all('opens a process outside by a pidfd', perl(`exit(syscall(${PIDFD_OPEN}, ${victim}, 0) >= 0 ? 0 : 1)`)),
    all(
      'may signal a process outside by a pidfd',
      perl(
        [
          `my $p = syscall(${PIDFD_OPEN}, ${victim}, 0); exit($p >= 0 &&`,
          `syscall(${PIDFD_SEND_SIGNAL}, $p, 0, 0, 0) == 0 ? 0 : 1)`,
        ].join(' '),
      ),
    ),
    all('changes the priority of a process outside', `renice -n 19 -p ${victim}`),
    all('reads the limits of a process outside', `prlimit --pid ${victim} --nofile`),
  ]
}

function cloneAttempts(): readonly Attempt[] {
  return [
    all('clones into a user namespace with clone3', cloneWith(0x1000_0000)),
    root('clones into a mount namespace with clone3', cloneWith(0x0002_0000)),
    root('clones into a network namespace with clone3', cloneWith(0x4000_0000)),
  ]
}

function setuidAttempts(): readonly Attempt[] {
  return [
    all(
      'makes a setuid program with openat2',
      `rm -f o2; ${perl(
        `umask 0; my ($n, $h) = ("o2", pack("Q3", 0x41, 04755, 0)); syscall(${OPENAT2}, -100, $n, $h, 24)`,
      )}; test -u o2`,
    ),
    some(
      'makes a setuid program with fchmodat2',
      `rm -f o3; touch o3; ${perl(`my $n = "o3"; syscall(${FCHMODAT2}, -100, $n, 04755, 0)`)}; test -u o3`,
    ),
    all(
      'makes a setuid program with tar',
      'rm -f o4; touch o4; tar --mode=4755 -cf o4.tar o4 && tar -xpf o4.tar && test -u o4',
    ),
    all('makes a setuid program with install', 'rm -f o5; install -m 4755 /bin/true o5 && test -u o5'),
    all(
      'makes a setuid folder with Perl',
      `rm -f o6; ${perl('umask 0; mkdir "o6d"; chmod(06755, "o6d") or exit 1')} && test -u o6d`,
    ),
    root(
      'gives a program kernel capabilities',
      `cp /bin/true cap; ${perl(
        [
          'my ($f, $n, $v) = ("cap", "security.capability", pack("V5", 0x02000001, 1 << 21, 0, 0, 0));',
          `exit(syscall(${CALLS?.setxattr}, $f, $n, $v, 20, 0) == 0 ? 0 : 1)`,
        ].join(' '),
      )}`,
    ),
  ]
}

function kernelFileAttempts(): readonly Attempt[] {
  return [
    root('could write any setting of the kernel', 'find /proc/sys -type f -writable 2> /dev/null | grep -q .'),
    root('reads the running timers of the kernel', 'grep -q . /proc/timer_list'),
    root('reads the memory statistics of the kernel', 'grep -q . /proc/slabinfo || grep -q . /proc/vmallocinfo'),
    some('reads flags of memory pages', 'dd if=/proc/kpageflags bs=8 count=1 2> /dev/null | grep -q .'),
    some(
      'could move itself to another control group',
      'find /sys/fs/cgroup -name cgroup.procs -writable 2> /dev/null | grep -q .',
    ),
  ]
}

function serviceAttempts({ socket, shared }: EscapeFacts): readonly Attempt[] {
  return [
    some('asks the service manager to start a process', 'systemd-run true || systemd-run --user true || busctl list'),
    some(
      'leaves a cron or at job',
      'test -w /var/spool/cron || test -w /var/spool/cron/crontabs || test -w /var/spool/at',
    ),
    some("reaches the owner's SSH agent", 'test -S "$SSH_AUTH_SOCK"'),
    all("reaches the agent's socket by its path", `test -S ${socket}`),
    some('inherits the environment of the runtime', 'env | grep -q CANARY=secret'),
    all('writes into shared memory of other processes', `echo got >> ${shared}/memory`),
    some(
      'opens sockets of rare kernel drivers',
      perl(
        [
          'use Socket; for my $f (3 .. 9, 11 .. 15, 17 .. 45) { for my $t (1, 2, 3, 5) {',
          'exit 0 if socket(my $s, $f, $t, 0) } } exit 1',
        ].join(' '),
      ),
    ),
    some(
      'types into a terminal',
      perl('open(my $t, "+<", "/dev/tty") or exit 1; my $c = "x"; exit(ioctl($t, 0x5412, $c) ? 0 : 1)'),
    ),
  ]
}

function pathAttempts({ home, outside }: EscapeFacts): readonly Attempt[] {
  const token = join(home, 'token')
  return [
    all(
      'swaps a symbolic link while it is read',
      `ln -sfn ${home} swap; for i in 1 2 3; do ln -sfn . swap; ln -sfn ${home} swap; done; grep -q secret swap/token`,
    ),
    all('reads through a folder of descriptors', `exec 7< ${home}; grep -q secret /proc/self/fd/7/token`),
    all('finds the home through the root of its own process', `ls /proc/thread-self/root${home} | grep -q token`),
    all('copies the token by its own program', `cp ${token} copied && grep -q secret copied`),
    all(
      'sends the token through a named pipe',
      `rm -f pipe; mkfifo pipe; (timeout 2 cat ${token} > pipe &) ; timeout 2 grep -q secret pipe`,
    ),
    all('replaces the folder of the workspace', `cd .. && mv "$OLDPWD" gone && mv gone "$OLDPWD"`),
    all(
      'moves a file of another user over its own',
      `touch mine2 && mv ${outside}/file mine2 && mv mine2 ${outside}/file`,
    ),
  ]
}
