/** Checks the imports of the page: its own files, the packages that browsers get, and only types from the rest. */

import { posix } from 'node:path'
import type { Tree } from './check.ts'
import { type Rules, unitOf } from './rules.ts'

/** Packages that are sent to the browser; packages of the build are not. */
const PACKAGES = ['preact', 'markdown-it']

const IMPORT = /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm

/** `tree`: by path below the checkout, `web/src/…`. */
export function webViolations(tree: Tree, { arrows }: Rules): readonly string[] {
  const allowed = arrows.get('web') ?? []
  return [...tree].flatMap(([path, source]) =>
    [...source.matchAll(IMPORT)].flatMap(([, type, named, loaded]) => {
      const specifier = named ?? loaded ?? ''
      const at = `${path} imports ${specifier}`
      if (!specifier.startsWith('.'))
        return PACKAGES.includes(specifier.split('/')[0] ?? '') ? [] : [`${at}, which is not sent to browsers`]
      const target = posix.join(posix.dirname(path), specifier)
      if (target.startsWith('web/src/')) return []
      if (!target.startsWith('src/') || !allowed.includes(unitOf(target.slice('src/'.length))))
        return [`${at}; web may import ${allowed.join(', ')}`]
      return type ? [] : [`${at}, but not as types only`]
    }),
  )
}
