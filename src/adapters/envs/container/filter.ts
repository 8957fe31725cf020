/**
 * The system calls that a container may make. Docker's own list holds; Podman's lets everybody make new namespaces, mount in them, trace and use key
 * rings, so it is taken without those. Pure.
 */

/** What no command needs, as in the sandbox. */
const REFUSED = new Set([
  ...['unshare', 'setns', 'clone', 'clone3', 'mount', 'umount', 'umount2', 'pivot_root', 'open_tree', 'move_mount'],
  ...['fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'keyctl', 'add_key', 'request_key'],
  ...['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp'],
])

/** Flags of clone that make a namespace. */
const NEW_NAMESPACES = 0x7e02_0000
const ENOSYS = 38

interface Rule {
  readonly names: readonly string[]
  readonly [more: string]: unknown
}

/** Contract: a profile as engines read them, with those calls refused, and clone as long as it makes no namespace. */
export function stricter(profile: string): string {
  const { syscalls, ...rest } = JSON.parse(profile) as { readonly syscalls: readonly Rule[] }
  const kept = syscalls.map((rule) => ({ ...rule, names: rule.names.filter((name) => !REFUSED.has(name)) }))
  const clone = {
    ...{ names: ['clone'], action: 'SCMP_ACT_ALLOW' },
    args: [{ index: 0, value: NEW_NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
  }
  // Its flags lie in memory, where a filter cannot look; programs fall back to clone.
  const clone3 = { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS }
  return JSON.stringify({ ...rest, syscalls: [...kept.filter(({ names }) => names.length > 0), clone, clone3] })
}
