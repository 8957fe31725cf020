/** One check of `doctor`: what was found, and the remedy if it is a problem. */

import { z } from 'zod'
import { asTirelessError, type TirelessError } from '../../domain/error.ts'

export const healthCheckSchema = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string(),
  remedy: z.string().nullable(),
})
export type Check = z.output<typeof healthCheckSchema>

export type Found = Omit<Check, 'name'>

export const good = (found: string): Found => ({ ok: true, found, remedy: null })
export const bad = (found: string, remedy: string): Found => ({ ok: false, found, remedy })

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
