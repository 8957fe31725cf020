/** Data of others: read, and held against its shape before anybody relies on it. */

import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { TirelessError } from '../../src/domain/error.ts'

export function readShaped<T>(path: string, shape: z.ZodType<T>): T {
  const { data, error } = shape.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (data !== undefined) return data
  const [issue] = error?.issues ?? []
  throw new TirelessError('usage', {
    what: 'the data has another shape than expected',
    where: path,
    got: `${issue?.path.join('.')}: ${issue?.message}`,
    expected: 'the format of the public data set',
    fix: 'see: CONTRIBUTING.md, npm run bench -- injection --data DIR',
  })
}
