/** One check of `doctor`: what was found, and the remedy if it is a problem. */

import { z } from 'zod'
import { asTirelessError, type TirelessError } from '../../domain/error.ts'

export const healthCheckSchema = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string(),
  remedy: z.string().nullable(),
  fixable: z.boolean().describe('whether `doctor --fix` repairs it without losing data'),
})
export type Check = z.output<typeof healthCheckSchema>

export type Found = Omit<Check, 'name'>

export const good = (found: string): Found => ({ ok: true, found, remedy: null, fixable: false })
export const bad = (found: string, remedy: string): Found => ({ ok: false, found, remedy, fixable: false })
export const fixable = (found: string, remedy: string): Found => ({ ...bad(found, remedy), fixable: true })

/** Contract: whether the check of this name repairs what it finds. */
export type Fixes = (name: string) => boolean

export async function check(name: string, find: () => Found | Promise<Found>): Promise<Check> {
  try {
    return { name, ...(await find()) }
  } catch (thrown) {
    return failedCheck(name, asTirelessError(thrown))
  }
}

export const failedCheck = (name: string, { problem, fix }: TirelessError): Check => ({
  name,
  ...bad(problem, fix ?? 'see the message'),
})
