/** What commands can do with the owner's secrets. */

/** The owner's secrets. No method returns the value of a secret. */
export interface SecretVault {
  list(): readonly SecretEntry[]
  /** Contract: stores the secret and redacts it from then on; throws `usage` if the value cannot be a secret. */
  set(name: string, value: string, to: readonly string[] | undefined): SecretEntry & { readonly replaced: boolean }
  /** Contract: throws `not_found` for an unknown name. */
  remove(name: string): SecretEntry
  /**
   * Contract: the name for the secret of a part of the configuration, such as `mcp_servers.files`: `wanted`, or
   * `wanted` with a number if that is another secret or something else refers to it. A part has one name.
   */
  nameFor(part: string, wanted: string): string
  /**
   * Contract: stores the secret of a part under its name from `nameFor`; no other secret is touched, and tools may send
   * it nowhere. The result takes it back: then everything is as before.
   */
  setFor(part: string, name: string, value: string): () => void
  /**
   * Contract: call it when the part is gone. Removes the secrets that `setFor` stored for it, unless something still
   * refers to them or their owner has set them since. `stays`: secrets under the names `referred` that are left.
   */
  removeFor(
    part: string,
    referred: readonly string[],
  ): { readonly removed: readonly string[]; readonly stays: string[] }
}

export interface SecretEntry {
  readonly name: string
  readonly set_at: string
  /** Hosts to which tools may send the secret. */
  readonly to: readonly string[]
  /** Configuration keys that refer to the secret. */
  readonly used_by: readonly string[]
}
