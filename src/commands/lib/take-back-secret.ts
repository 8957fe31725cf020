/** Takes a secret back that a command stored before it failed. */

import { asTirelessError, TirelessError } from '../../domain/error.ts'

/** Contract: the error to throw; it says so if the secret could not be taken back. Never throws. */
export function takeBackSecret(takeBack: () => void, name: string, thrown: unknown): TirelessError {
  const error = asTirelessError(thrown)
  try {
    takeBack()
    return error
  } catch {
    const note = `the secret ${name} stays stored; remove it with tireless secrets remove ${name}`
    return new TirelessError(error.code, { ...error.parts, what: `${error.parts.what}; ${note}` }, { cause: thrown })
  }
}
