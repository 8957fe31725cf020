/** More escape attempts, each a line of shell that succeeds where the way is open. */

import { join } from 'node:path'
import { type Attempt, all, type EscapeFacts, root, some, systemCall } from './attempt.ts'

/** Numbers of system calls that differ by architecture. */
const CALLS = {
  x64: {
    pivot: 155,
    hostname: 170,
    swapon: 167,
    acct: 163,
    settime: 164,
    setns: 308,
    writev: 311,
    request: 249,
    uffd: 323,
    module: 175,
    kexec: 246,
  },
  arm64: {
    pivot: 41,
    hostname: 161,
    swapon: 224,
    acct: 89,
    settime: 170,
    setns: 268,
    writev: 271,
    request: 218,
    uffd: 282,
    module: 105,
    kexec: 104,
  },
}[process.arch as 'x64' | 'arm64']

const family = (number: number): string =>
  [
    `perl -MSocket -e 'for my $t (1, 2, 3, 5) { exit 0 if socket(my $s, ${number}, $t, 0) ||`,
    `socket($s, ${number}, $t, 1) } exit 1'`,
  ].join(' ')

export function fileAndKernelAttempts(facts: EscapeFacts): readonly Attempt[] {
  return [
    ...otherProcessAttempts(facts),
    ...fileAttempts(facts),
    ...systemFileAttempts(),
    ...systemCallAttempts(),
    ...deviceAttempts(facts),
  ]
}

function otherProcessAttempts({ home, victim }: EscapeFacts): readonly Attempt[] {
  const token = join(home, 'token')
  return [
    all('reads the token through the root of another process', `grep -q secret /proc/${victim}/root${token}`),
    all('lists the folder of another process', `ls /proc/${victim}/cwd/ | grep -q .`),
    all('reads the arguments of another process', `tr '\\0' ' ' < /proc/${victim}/cmdline | grep -q 4242`),
    all('reads the memory map of a process', `grep -q . /proc/${victim}/maps`),
    all('opens the memory of a process', `perl -e 'open(my $f, "<", "/proc/${victim}/mem") or exit 1'`),
  ]
}

function fileAttempts({ base, home, outside }: EscapeFacts): readonly Attempt[] {
  return [
    all('archives the home', `tar cf packed.tar ${home} && grep -q secret packed.tar`),
    all('searches for the token', `find ${base} -name token | grep -q token`),
    all('writes through a link to a folder', `ln -sfn ${outside} way && echo got > way/through`),
    all('moves a file out', `echo x > mine && mv mine ${outside}/moved`),
    all('hard-links a file into the workspace', `rm -f hard2; ln ${outside}/file hard2 && grep -q secret hard2`),
    all('reads through a deep relative path', 'cd below/deep && grep -q secret ../../../beside'),
    all(
      'opens the folder above by its handle',
      `perl -e 'opendir(my $d, "..") or exit 1; my @n = readdir $d; exit((grep { $_ eq "beside" } @n) ? 0 : 1)'`,
    ),
    all('makes a setuid program', 'cp /bin/true s && chmod 4755 s && test -u s'),
    all(
      'creates a file as setuid',
      `rm -f t; perl -MFcntl -e 'umask 0; sysopen(my $f, "t", O_CREAT | O_WRONLY, 04755) or exit 1' && test -u t`,
    ),
    all(
      'makes a setuid file by its descriptor',
      `rm -f v; perl -e 'open(my $f, ">", "v"); chmod(04755, $f) or exit 1' && test -u v`,
    ),
    all('makes a setuid file with chmod u+s', 'rm -f w; cp /bin/true w; chmod u+s w && test -u w'),
    root('gives a file to another user', 'touch given && chown 12345 given'),
  ]
}

function systemFileAttempts(): readonly Attempt[] {
  return [
    some("could use the kernel's SysRq trigger", 'test -w /proc/sysrq-trigger'),
    some('exempts itself from the out-of-memory killer', 'echo -500 > /proc/self/oom_score_adj'),
    root('could replace a library', 'test -w /usr/lib'),
    root('could change what every program loads', 'test -w /etc/ld.so.cache'),
    root('could change cron jobs', 'test -w /etc/cron.d || test -w /var/spool || test -w /etc'),
  ]
}

function systemCallAttempts(): readonly Attempt[] {
  return [
    root('changes the root folder by a system call', systemCall(CALLS?.pivot, '"/nowhere"', '"/nowhere"')),
    root('renames the machine by a system call', systemCall(CALLS?.hostname, 0, 99_999)),
    root('uses a file as swap', systemCall(CALLS?.swapon, '"/nowhere"', 0)),
    root('turns on process accounting', systemCall(CALLS?.acct, '"/nowhere"')),
    root('sets the time by a system call', systemCall(CALLS?.settime, 0, 0)),
    all('enters a namespace by a system call', systemCall(CALLS?.setns, -1, 0)),
    all('writes the memory of a process', systemCall(CALLS?.writev, '$$', 0, 0, 0, 0, 0)),
    all('requests a key', systemCall(CALLS?.request, '"user"', '"tireless-none"', 0, 0)),
    some('handles page faults itself', systemCall(CALLS?.uffd, 1)),
    some('loads a kernel module', systemCall(CALLS?.module, 0, 0, 0)),
    some('loads another kernel', systemCall(CALLS?.kexec, 0, 99, 0, 0)),
    root('mounts by a new system call', systemCall(432, -1, 0, 0)),
    some('changes a mount by a new system call', systemCall(442, -100, '"/usr"', 0, 0, 0)),
    some('enters io_uring', systemCall(426, -1, 0, 0, 0, 0, 0)),
    some('opens a Bluetooth socket', family(31)),
    some('opens a CAN bus socket', family(29)),
    some('opens a TIPC or RDS socket', `${family(30)} || ${family(21)}`),
  ]
}

function deviceAttempts({ home }: EscapeFacts): readonly Attempt[] {
  return [
    some(
      'sees devices that lead outside',
      'test -e /dev/net/tun || test -e /dev/fuse || test -e /dev/kmsg || test -e /dev/mem',
    ),
    some('sees terminals of other users', 'ls /dev/pts | grep -q "[0-9]"'),
    some(
      'talks to a service of the machine',
      'test -S /run/docker.sock || test -S /var/run/docker.sock || test -S /run/systemd/private',
    ),
    some('becomes root', 'sudo -n true || su -c true < /dev/null'),
    some('raises its limits', 'ulimit -Hf unlimited && test "$(ulimit -Hf)" = unlimited'),
    some('keeps a folder of the home open', `for f in /proc/self/fd/*; do readlink $f; done | grep -q ^${home}`),
    some('sees other control groups', 'test -e /sys/fs/cgroup && ls /sys/fs/cgroup | grep -q .'),
  ]
}
