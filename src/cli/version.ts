/** The version of this program, from the manifest beside its folder. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'))
  return String((manifest as { version?: unknown }).version)
}
