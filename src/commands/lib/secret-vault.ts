/** What commands can do with the owner's secrets. */

/** The owner's secrets. No method returns the value of a secret. */
export interface SecretVault {
  list(): readonly SecretEntry[]
  /** Contract: stores the secret and redacts it from then on; throws `usage` if the value cannot be a secret. */
  set(name: string, value: string, to: readonly string[] | undefined): SecretEntry & { readonly replaced: boolean }
  /** Contract: throws `not_found` for an unknown name. */
  remove(name: string): SecretEntry
}

export interface SecretEntry {
  readonly name: string
  readonly set_at: string
  /** Hosts to which tools may send the secret. */
  readonly to: readonly string[]
  /** Configuration keys that refer to the secret. */
  readonly used_by: readonly string[]
}
