/** Takes a secret back that a command stored before it failed. */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { SecretEntry, SecretVault } from './secret-vault.ts'

/**
 * Contract: the error to throw. A secret that is new is removed; if it stays, or replaced another value, the error says
 * so. Never throws.
 */
export function takeBackSecret(
  secrets: SecretVault,
  { name, replaced }: SecretEntry & { readonly replaced: boolean },
  thrown: unknown,
): TirelessError {
  const error = asTirelessError(thrown)
  const withNote = (note: string): TirelessError =>
    new TirelessError(error.code, { ...error.parts, what: `${error.parts.what}; ${note}` }, { cause: thrown })
  if (replaced) return withNote(`the new value of the secret ${name} stays stored`)
  try {
    secrets.remove(name)
    return error
  } catch {
    return withNote(`the secret ${name} stays stored; remove it with tireless secrets remove ${name}`)
  }
}
