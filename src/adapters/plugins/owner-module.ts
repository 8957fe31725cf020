/** The owner's own module in the home: code with the rights of the configuration, so it needs no approval. */

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { describeValue } from '../../domain/json.ts'
import { importError } from './import-error.ts'
import { importOwned } from './pinned-modules.ts'

const NAMES = ['ts', 'mts', 'js', 'mjs'].map((extension) => `tireless.config.${extension}`)

/** Contract: the path of the module; undefined if there is none. Throws if there are two, or others may change it. */
export function findOwnerModule(home: string): string | undefined {
  const [file, another] = NAMES.map((name) => join(home, name)).filter((path) => existsSync(path))
  if (file === undefined) return undefined
  if (another !== undefined)
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'there are two modules of the owner', where: home, got: `${file} and ${another}`, fix: 'keep one' },
    })
  const { uid, mode } = statSync(file)
  const own = process.getuid?.()
  if (own !== undefined && uid !== own)
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'another user owns the module', where: file, got: `user ${uid}`, expected: `user ${own}` },
      fix: 'write it again as yourself',
    })
  if ((mode & 0o022) !== 0 && process.platform !== 'win32')
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'others may change the module', where: file, got: `mode ${(mode & 0o777).toString(8)}` },
      fix: `chmod go-w ${file}`,
    })
  return file
}

/** Contract: the lists that the module exports as default; `keys`: their names. Errors name the file and the line. */
export async function loadOwnerModule(
  file: string,
  home: string,
  modules: Readonly<Record<string, string>>,
  keys: readonly string[],
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const fix = 'correct the file, or move it away'
  let exported: unknown
  try {
    exported = (await importOwned(file, home, modules)).default
  } catch (thrown) {
    throw importError(thrown, file, fix)
  }
  const invalid = (where: string, got: unknown, expected: string): TirelessError =>
    new TirelessError('plugin_invalid', {
      ...{ what: 'the module exports something else', where: `${file}: ${where}`, got: describeValue(got) },
      ...{ expected, fix },
    })
  if (typeof exported !== 'object' || exported === null || Array.isArray(exported))
    throw invalid('default', exported, 'an object of defineConfig')
  for (const [key, value] of Object.entries(exported)) {
    if (!keys.includes(key)) throw invalid('default', key, `one of ${keys.join(', ')}`)
    if (value !== undefined && !Array.isArray(value)) throw invalid(key, value, 'a list')
  }
  return exported as Readonly<Record<string, readonly unknown[]>>
}
