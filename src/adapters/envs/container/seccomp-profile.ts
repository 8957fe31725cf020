/**
 * The seccomp profile of a container. Docker's default is strict enough. Podman's default allows new namespaces, mounts
 * in them, tracing and key rings, so those calls are removed from it. Pure.
 */

/** System calls that agent commands do not need. The seccomp filter of bubblewrap sandboxes refuses them too. */
const REFUSED = new Set([
  ...['unshare', 'setns', 'clone', 'clone3', 'mount', 'umount', 'umount2', 'pivot_root', 'open_tree', 'move_mount'],
  ...['fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'keyctl', 'add_key', 'request_key'],
  ...['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp'],
])

/** The clone flags that create a namespace. */
const NEW_NAMESPACES = 0x7e02_0000
const ENOSYS = 38

interface Rule {
  readonly names: readonly string[]
  readonly [more: string]: unknown
}

/**
 * Contract: `profile` is a seccomp profile in JSON. The result refuses the system calls in REFUSED; only `clone` stays
 * allowed if it creates no namespace.
 */
export function restrictProfile(profile: string): string {
  const { syscalls, ...rest } = JSON.parse(profile) as { readonly syscalls: readonly Rule[] }
  const kept = syscalls.map((rule) => ({ ...rule, names: rule.names.filter((name) => !REFUSED.has(name)) }))
  const clone = {
    ...{ names: ['clone'], action: 'SCMP_ACT_ALLOW' },
    args: [{ index: 0, value: NEW_NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
  }
  // A filter cannot read clone3's flags, which are in memory. With ENOSYS, programs fall back to clone.
  const clone3 = { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS }
  return JSON.stringify({ ...rest, syscalls: [...kept.filter(({ names }) => names.length > 0), clone, clone3] })
}
