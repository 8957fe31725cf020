/** Finds the file or folder of a plugin: a path, or a package that npm installed. */

import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'

/** Contract: the package's folder in the `node_modules` of `folder` or above it; undefined if there is none. */
export function findPackage(name: string, folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, 'node_modules', name)
    // Package managers put links in node_modules; the files behind them are the plugin.
    if (statSync(found, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(found)
    if (dirname(at) === at) return undefined
  }
}

/** npm's own rules, without names for which no folder can exist. */
export const isPackageName = (name: string): boolean => /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i.test(name)

export const packageMissing = (name: string, home: string): TirelessError =>
  new TirelessError('plugin_invalid', {
    ...{ what: 'the package is not installed', where: 'plugins', got: name },
    expected: `a package in ${join(home, 'node_modules')}`,
    fix: `npm install --prefix ${home} ${name}; for a file beside the configuration write ./${name}`,
  })
