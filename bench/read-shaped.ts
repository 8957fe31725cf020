/** Reads a JSON file and checks its shape. */

import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { TirelessError } from '../src/domain/error.ts'

/** A kind of file: its shape, and texts for the error if the shape does not match. */
export interface FileKind<T> {
  readonly shape: z.ZodType<T>
  readonly expected: string
  readonly fix: string
}

/** Contract: throws `usage` with the file's name if it cannot be read, is not JSON or has another shape. */
export function readShaped<T>(path: string, { shape, expected, fix }: FileKind<T>): T {
  const wrong = (got: string) =>
    new TirelessError('usage', { what: 'the file has the wrong content', where: path, got, expected, fix })
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
