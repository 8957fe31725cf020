/** Checks what plugins and programs pass to services: they may use JavaScript. */

import type { z } from 'zod'
import { describeMismatch } from '../domain/describe-issues.ts'
import { readSafely, TirelessError } from '../domain/error.ts'

/** Contract: throws `usage`, with the name of the method. */
export function checkArguments<T>(method: string, schema: z.ZodType<T>, value: unknown): T {
  const checked = readSafely(method, () => schema.safeParse(value))
  if (checked.success) return checked.data
  const what = readSafely(method, () => describeMismatch(checked.error.issues, value))
  throw new TirelessError('usage', { what, where: `${method}()` })
}
