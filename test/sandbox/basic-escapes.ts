/** Escape attempts by reading, writing, connecting, mounting and system calls. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Attempt, all, type EscapeFacts, root, some, systemCall } from './attempt.ts'

/** Numbers of system calls that differ by architecture. */
const CALLS = {
  x64: {
    ptrace: 101,
    keyctl: 250,
    add_key: 248,
    process_vm_readv: 310,
    bpf: 321,
    open_by_handle_at: 304,
    unshare: 272,
    perf: 298,
    kcmp: 312,
    clone: 56,
  },
  arm64: {
    ptrace: 117,
    keyctl: 219,
    add_key: 217,
    process_vm_readv: 270,
    bpf: 280,
    open_by_handle_at: 265,
    unshare: 97,
    perf: 241,
    kcmp: 272,
    clone: 220,
  },
}[process.arch as 'x64' | 'arm64']

const family = (number: number): string =>
  [
    `perl -MSocket -e 'socket(my $s, ${number}, SOCK_DGRAM, 0) || socket($s, ${number}, SOCK_STREAM, 0) ||`,
    `socket($s, ${number}, 5, 0) or exit 1'`,
  ].join(' ')

/** `$PWD` is a workspace with a repository in it and another one below. */
export function basicAttempts(facts: EscapeFacts): readonly Attempt[] {
  return [
    ...readAttempts(facts),
    ...writeAttempts(facts),
    ...processAndNetworkAttempts(facts),
    ...namespaceAttempts(facts),
    ...systemCallAttempts(),
    ...machineAttempts(facts),
    ...gitAttempts(),
  ]
}

function readAttempts({ base, home, outside }: EscapeFacts): readonly Attempt[] {
  const token = join(home, 'token')
  return [
    all("reads the home's token", `grep -q secret ${token}`),
    all('lists the home', `ls ${home} | grep -q token`),
    all('reads another workspace', `grep -q secret ${home}/workspaces/other/file`),
    all('reads through a symbolic link', `ln -sf ${token} link && grep -q secret link`),
    all('reads through a hard link', `rm -f hard && ln ${token} hard && grep -q secret hard`),
    all('reads through the root of a process', `grep -q secret /proc/self/root${token}`),
    all('reads beside the workspace', `grep -q secret /proc/self/cwd/../beside`),
    all('climbs out of the workspace', 'grep -q secret ../beside'),
    all('reads the files of the user', `grep -q secret ${base}/user/.ssh/id`),
    root('reads the password hashes of the machine', 'head -c 1 /etc/shadow | grep -q .'),
    some('reads the list of users', 'test "$(wc -l < /etc/passwd)" -gt 5'),
    all('reads temporary files of other users', `grep -q secret ${outside}/file`),
  ]
}

function writeAttempts({ base, home, outside, shared }: EscapeFacts): readonly Attempt[] {
  return [
    all('writes outside the workspace', `echo got > ${outside}/written`),
    all('writes into the home', `echo got > ${home}/written`),
    all("writes a file that the user's shell runs", `echo got >> ${base}/user/.bashrc`),
    root('could write to /usr', 'test -w /usr/bin'),
    root('could write to /etc', 'test -w /etc && test -w /etc/passwd'),
    root('could write to the root folder', 'test -w /'),
    root(
      'writes a setting of the kernel',
      'v=$(cat /proc/sys/kernel/core_pattern) && printf %s "$v" > /proc/sys/kernel/core_pattern',
    ),
    root(
      'changes a node of /dev',
      [
        `before=$(stat -c %Z ${shared}/null) && sleep 0 && chmod 666 /dev/null &&`,
        `test "$(stat -c %i /dev/null)" = ${statSync('/dev/null').ino}`,
      ].join(' '),
    ),
  ]
}

function processAndNetworkAttempts({
  outside,
  victim,
  port,
  datagrams,
  socket,
  abstract,
}: EscapeFacts): readonly Attempt[] {
  const connect = (address: string): string =>
    `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un(${address})) or exit 1'`
  return [
    all('reads the environment of another process', `tr '\\0' '\\n' < /proc/${victim}/environ | grep -q CANARY=secret`),
    all('sees processes outside', 'grep -qsx sleep /proc/[0-9]*/comm'),
    all('may signal a process outside', `kill -0 ${victim}`),
    all('connects over TCP', `exec 5<>/dev/tcp/127.0.0.1/${port}`),
    all('sends a datagram', `echo got > /dev/udp/127.0.0.1/${datagrams}; sleep 0.05; test -e ${outside}/datagram`),
    all('connects to a socket in the home', connect(`"${socket}"`)),
    all('connects to an abstract socket', connect(`"\\0${abstract}"`)),
    some('sees the network of the machine', 'test "$(grep -c : /proc/net/dev)" -gt 1'),
  ]
}

function namespaceAttempts({ victim }: EscapeFacts): readonly Attempt[] {
  return [
    root('mounts', 'mkdir -p m && unshare -m mount -t tmpfs none m'),
    root('mounts without unshare', 'mkdir -p m && mount -t tmpfs none m && umount m'),
    root('remounts the system', 'unshare -m sh -c "mount --bind /usr /usr && mount -o remount,bind,rw /usr"'),
    root('creates a device node', 'rm -f node; mknod node b 7 7 && rm node'),
    root('changes the root folder', 'chroot / true'),
    all('makes a user namespace', 'unshare -U true'),
    all('makes a user namespace with a system call', systemCall(CALLS?.unshare, 0x1000_0000)),
    all('clones into a user namespace', systemCall(CALLS?.clone, 0x1000_0011, 0, 0, 0, 0)),
    root('makes a network namespace', 'unshare -n true'),
    root('enters another namespace', `nsenter -t ${victim} -m true`),
  ]
}

function systemCallAttempts(): readonly Attempt[] {
  return [
    all('traces', systemCall(CALLS?.ptrace, 0, 0, 0, 0)),
    all('reads the memory of a process', systemCall(CALLS?.process_vm_readv, '$$', 0, 0, 0, 0, 0)),
    all('asks for a key ring', systemCall(CALLS?.keyctl, 0, -3, 0)),
    all('stores a key in the key ring', systemCall(CALLS?.add_key, '"user"', '"tireless-try"', '"x"', 1, -2)),
    all('compares processes', systemCall(CALLS?.kcmp, '$$', '$$', 0, 0, 0)),
    root('loads a program into the kernel', systemCall(CALLS?.bpf, 0, 0, 0)),
    root('opens a file by its handle', systemCall(CALLS?.open_by_handle_at, -1, 0, 0)),
    some('uses performance counters', systemCall(CALLS?.perf, 0, 0, 0, 0, 0)),
    some('uses io_uring', systemCall(425, 1, 0)),
    all('mounts with the new calls', `${systemCall(430, '"tmpfs"', 0)} || ${systemCall(428, -1, '"/"', 0)}`),
    some('opens a socket to the hypervisor', family(40)),
    root('opens a raw socket', family(17)),
    some("opens a socket of the kernel's crypto interface", family(38)),
  ]
}

function machineAttempts({ shared }: EscapeFacts): readonly Attempt[] {
  return [
    some('reads the log of the kernel', 'dmesg | grep -q .'),
    root('renames the machine', 'unshare -u hostname other || hostname "$(hostname)"'),
    root('raises its priority', 'renice -n -5 $$'),
    some('may write core dumps', 'ulimit -c unlimited'),
    some('may write files of any size', 'test "$(ulimit -f)" = unlimited'),
    some('sees devices of the machine', 'ls /dev | grep -Eq "^(vda|sda|nvme|loop|kmsg|mem|kvm|fuse)"'),
    all('sees /sys', 'test -e /sys/kernel'),
    all('sees /run', 'ls -A /run | grep -q .'),
    all('sees shared memory', `grep -q secret ${shared}/memory`),
    all('sees the keys of the machine', 'test -s /proc/keys || grep -q . /proc/keys'),
  ]
}

function gitAttempts(): readonly Attempt[] {
  return [
    all('writes a hook of git', 'echo true > .git/hooks/pre-commit'),
    all('removes the hooks of git', 'rm -rf .git/hooks && mkdir .git/hooks'),
    all('writes the configuration of git', 'git config alias.x "!true"'),
    all('replaces the configuration of git', 'cp .git/config new && mv -f new .git/config'),
    all('moves the repository away', 'mv .git aside && mv aside .git'),
    all('writes a hook of a nested repository', 'echo true > below/deep/.git/hooks/pre-commit'),
    all('writes the configuration of a nested repository', 'git -C below/deep config alias.x "!true"'),
    all('changes the settings of another agent', 'echo {} > .claude/settings.json'),
    all('adds MCP servers for other agents', 'echo {} > .mcp.json'),
  ]
}
