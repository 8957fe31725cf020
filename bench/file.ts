/** JSON that was written elsewhere: read, and checked against its shape before anything relies on it. */

import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { TirelessError } from '../src/domain/error.ts'

/** What a file of that kind has to be, and what to do where it is not. */
export interface FileKind<T> {
  readonly shape: z.ZodType<T>
  readonly expected: string
  readonly fix: string
}

/** Contract: throws `usage`, naming the file, where it cannot be read, is no JSON or has another shape. */
export function readShaped<T>(path: string, { shape, expected, fix }: FileKind<T>): T {
  const wrong = (got: string) =>
    new TirelessError('usage', { what: 'the file is not what is expected', where: path, got, expected, fix })
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error))
  }
  const { success, data, error } = shape.safeParse(json)
  if (success) return data
  const [issue] = error.issues
  throw wrong(`${issue?.path.join('.')}: ${issue?.message}`)
}
