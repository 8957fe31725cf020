/** Schema of the list of plugins. */

import { z } from 'zod'
import { isPluginPath, PLUGIN_TRUSTS, type PluginEntry } from '../domain/plugin-manifest.ts'
import { anyMapping, exactlyOne, isMapping, nonEmptyText } from './value-types.ts'

const entry = z
  .strictObject({
    path: nonEmptyText.optional().describe('a file or folder, relative to the home'),
    package: nonEmptyText.optional().describe('an npm package, installed in the home'),
    trust: z
      .enum(PLUGIN_TRUSTS)
      .optional()
      .describe('trusted: in this process; sandboxed: in a process of its own; default: what the manifest asks for'),
    options: anyMapping.prefault({}).describe('passed to the plugin'),
  })
  .superRefine(exactlyOne('path', 'package'), { when: isMapping })
  .transform(
    ({ path = null, package: name = null, trust = null, options }): PluginEntry => ({
      ...{ path, package: name, trust, options },
    }),
  )

const text = nonEmptyText.transform((value): PluginEntry => {
  const isPath = isPluginPath(value)
  return { path: isPath ? value : null, package: isPath ? null : value, trust: null, options: {} }
})

export const pluginsSchema = z
  .array(z.union([text, entry], 'a package name, a path, or a mapping with path or package, trust, options'))
  .prefault([])
  .describe('plugins to load; each needs your approval (tireless plugins add)')
