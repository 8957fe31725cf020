/**
 * The seccomp filter of the sandbox: refuses system calls that agent commands do not need, as a classic BPF program for
 * `bwrap --seccomp`. Namespaces and capabilities protect without it; the filter also blocks new namespaces, other
 * processes' memory, key rings, rare socket families, and calls that were often used to exploit the kernel. Pure.
 */

import { endianness } from 'node:os'

/** The numbers of system calls that differ between architectures. Numbers from 424 on are the same everywhere. */
interface Architecture {
  readonly audit: number
  readonly refused: readonly number[]
  readonly clone: number
  readonly socket: number
  readonly ioctl: number
  /** Calls that set the mode of a file, with the index of the mode argument. */
  readonly modes: readonly (readonly [number: number, mode: number])[]
  readonly openat: number
  /** Undefined if the architecture has no system call `open`. */
  readonly open: number | undefined
  /** The call `fallocate` is refused, because it can fill a disk at once; programs fall back to writing. */
  readonly fallocate: number
  /** Bits in the call number that select a foreign calling convention (x32). */
  readonly foreign: number
}

/**
 * The system calls open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, quotactl_fd,
 * open_tree_attr, io_uring_setup, io_uring_enter, io_uring_register and pidfd_getfd, in this order.
 */
const REFUSED_EVERYWHERE = [428, 429, 430, 431, 432, 433, 442, 443, 467, 425, 426, 427, 438]
const CLONE3 = 435
const OPENAT2 = 437
const FCHMODAT2 = 452

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000_003e,
    refused: [
      ...[101, 310, 311, 312], // ptrace, process_vm_readv, process_vm_writev, kcmp
      ...[165, 166, 155, 272, 308], // mount, umount2, pivot_root, unshare, setns
      ...[248, 249, 250], // add_key, request_key, keyctl
      ...[321, 298, 323], // bpf, perf_event_open, userfaultfd
      ...[246, 320, 175, 176, 313], // kexec_load, kexec_file_load, init_module, delete_module, finit_module
      // open_by_handle_at, acct, swapon, swapoff, reboot, sethostname, setdomainname, iopl, ioperm, quotactl
      ...[304, 163, 167, 168, 169, 170, 171, 172, 173, 179],
      // syslog, vhangup, settimeofday, clock_settime, adjtimex, clock_adjtime, nfsservctl, lookup_dcookie
      ...[103, 153, 164, 227, 159, 305, 180, 212],
    ],
    clone: 56,
    socket: 41,
    ioctl: 16,
    fallocate: 285,
    // chmod, fchmod, fchmodat, creat, mknod, mknodat
    modes: [
      [90, 1],
      [91, 1],
      [268, 2],
      [85, 1],
      [133, 1],
      [259, 2],
    ],
    openat: 257,
    open: 2,
    foreign: 0x4000_0000,
  },
  arm64: {
    audit: 0xc000_00b7,
    refused: [
      ...[117, 270, 271, 272],
      ...[40, 39, 41, 97, 268],
      ...[217, 218, 219],
      ...[280, 241, 282],
      ...[104, 294, 105, 106, 273],
      ...[265, 89, 224, 225, 142, 161, 162, 60],
      ...[116, 58, 170, 112, 171, 266, 42, 18],
    ],
    clone: 220,
    socket: 198,
    ioctl: 29,
    fallocate: 47,
    // fchmod, fchmodat, mknodat
    modes: [
      [52, 1],
      [53, 2],
      [33, 2],
    ],
    openat: 56,
    open: undefined,
    foreign: 0,
  },
}

const NEW_NAMESPACES = 0x7e02_0000
/** The allowed socket families: unix, inet, inet6, netlink. */
const SOCKET_FAMILIES = [1, 2, 10, 16]
/** The requests TIOCSTI and TIOCLINUX, with which a process can type into another process's terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c]

const [EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT] = [1, 38, 95, 97]

/** Offsets in the kernel's `struct seccomp_data`. */
const [NUMBER, AUDIT, FIRST_ARGUMENT, SECOND_ARGUMENT] = [0, 4, 16, 24]
/** Offset of the lower half of the argument with the index `at`. */
const argumentOffset = (at: number): number => FIRST_ARGUMENT + 8 * at

/** The setuid bit is refused: a setuid program in a workspace would give the owner's rights to all users. */
const SETUID = 0o4000
const O_CREAT = 0x40

type Instruction = readonly [code: number, jt: number, jf: number, k: number]

const load = (at: number): Instruction => [0x20, 0, 0, at]
const and = (bits: number): Instruction => [0x54, 0, 0, bits]
const returnValue = (value: number): Instruction => [0x06, 0, 0, value]
const ALLOW = returnValue(0x7fff_0000)
const refuse = (errno: number): Instruction => returnValue(0x0005_0000 | errno)
const isEqual = (k: number, yes: number, no: number): Instruction => [0x15, yes, no, k]

/** Contract: undefined for an architecture that ARCHITECTURES does not list. */
export function seccompFilter(architecture: string): Buffer | undefined {
  const known = ARCHITECTURES[architecture]
  if (!known || endianness() !== 'LE') return undefined
  return encode(programFor(known))
}

function programFor({
  audit,
  refused,
  clone,
  socket,
  ioctl,
  fallocate,
  modes,
  openat,
  open,
  foreign,
}: Architecture): readonly Instruction[] {
  return [
    ...[load(AUDIT), isEqual(audit, 1, 0), refuse(EPERM)],
    ...(foreign === 0 ? [] : [load(NUMBER), and(foreign), isEqual(0, 1, 0), refuse(EPERM)]),
    load(NUMBER),
    ...[...refused, ...REFUSED_EVERYWHERE].flatMap((number) => [isEqual(number, 0, 1), refuse(EPERM)]),
    // A filter cannot read clone3's flags, which are in memory. With ENOSYS, programs fall back to clone.
    ...[isEqual(CLONE3, 0, 1), refuse(ENOSYS)],
    ...[isEqual(OPENAT2, 0, 1), refuse(ENOSYS)],
    ...[isEqual(fallocate, 0, 1), refuse(EOPNOTSUPP)],
    ...[...modes, [FCHMODAT2, 2] as const].flatMap(([number, mode]) => onlyFor(number, refuseSetuid(mode))),
    ...onlyFor(openat, refuseSetuidIfCreating(2)),
    ...(open === undefined ? [] : onlyFor(open, refuseSetuidIfCreating(1))),
    ...onlyFor(clone, [load(FIRST_ARGUMENT), and(NEW_NAMESPACES), isEqual(0, 1, 0), refuse(EPERM), ALLOW]),
    ...onlyFor(socket, [
      load(FIRST_ARGUMENT),
      ...SOCKET_FAMILIES.flatMap((family) => [isEqual(family, 0, 1), ALLOW]),
      refuse(EAFNOSUPPORT),
    ]),
    ...onlyFor(ioctl, [
      load(SECOND_ARGUMENT),
      ...TERMINAL_INPUT.flatMap((request) => [isEqual(request, 0, 1), refuse(EPERM)]),
      ALLOW,
    ]),
    ALLOW,
  ]
}

const refuseSetuid = (mode: number): readonly Instruction[] => [
  ...[load(argumentOffset(mode)), and(SETUID), isEqual(0, 1, 0), refuse(EPERM), ALLOW],
]

/** `flags`: index of the flags argument. The mode argument follows the flags, and has a meaning only with O_CREAT. */
const refuseSetuidIfCreating = (flags: number): readonly Instruction[] => [
  ...[load(argumentOffset(flags)), and(O_CREAT), isEqual(0, 0, 1), ALLOW],
  ...refuseSetuid(flags + 1),
]

/** Runs `body` only for the system call `number`. Contract: `body` ends with a return instruction. */
const onlyFor = (number: number, body: readonly Instruction[]): readonly Instruction[] => [
  isEqual(number, 0, body.length),
  ...body,
]

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [at, [code, jt, jf, k]] of program.entries()) {
    bytes.writeUInt16LE(code, at * 8)
    bytes.writeUInt8(jt, at * 8 + 2)
    bytes.writeUInt8(jf, at * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, at * 8 + 4)
  }
  return bytes
}
