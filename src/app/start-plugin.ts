/** Starts sandboxed plugins: the program, paths and rights of their processes. */

import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMarkedTree } from '../adapters/envs/host/marked-tree.ts'
import { isInSystem } from '../adapters/envs/sandbox/bubblewrap-command-line.ts'
import type { InspectedPlugin } from '../adapters/plugins/plugin-library.ts'
import { PluginClient } from '../adapters/plugins/sandboxed/plugin-client.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { expandPath } from '../adapters/system/machine.ts'
import { userFolder } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { PluginHost } from '../ports/plugin.ts'
import { prepareProcesses } from './prepare-processes.ts'

/** Folder of the program's code: `src` in the checkout, `lib` in the package. */
const CODE = join(import.meta.dirname, '..')
const MAIN = join(import.meta.dirname, `plugin-main${extname(import.meta.filename)}`)
const MEMORY_MB = 512

/**
 * Node's own limits come on top of the sandbox: no child process, no thread, no native code. The program is imported,
 * because the sandbox would show the whole package of a program that is named as an argument.
 */
const FLAGS = [
  ...['--disable-warning=ExperimentalWarning', '--disable-warning=SecurityWarning'],
  ...['--permission', '--allow-fs-read=*', '--allow-fs-write=*', `--max-old-space-size=${MEMORY_MB}`],
  ...[`--import=${MAIN}`, '--eval=0'],
]

/** Paths of the program that the plugin's process reads. */
const programPaths = (): readonly string[] =>
  [CODE, join(CODE, '../package.json'), dirname(fileURLToPath(import.meta.resolve('zod')))].filter(
    (path) => !isInSystem(path),
  )

/** `approved`: what the owner approved; undefined while the plugin is being approved. */
export function createPluginClient(
  host: PluginHost,
  { entry, files, manifest }: InspectedPlugin,
  readSecrets: () => Readonly<Record<string, string>>,
  approved?: Json,
): PluginClient {
  const home = host.get('home').root
  const { name, needs } = manifest
  const expand = (path: string): string => expandPath(path, home, userFolder())
  const prepare = prepareProcesses(host, 'plugins')
  // A process that only tells what it offers has another mark: its start and end must not end the one that is called.
  const mark = approved === undefined ? 'TIRELESS_PLUGIN_REVIEW' : 'TIRELESS_PLUGIN'
  return new PluginClient({
    ...{ name, clock: host.get('clock'), approved },
    group: createMarkedTree({ [mark]: join(home, name) }, systemClock),
    start() {
      if (!host.get('sandbox').servers)
        throw new TirelessError('sandbox_missing', {
          ...{ what: 'a sandboxed plugin needs the sandbox, which the configuration disables', got: 'sandbox: off' },
          fix: 'enable it, or load the plugin with `trust: trusted`',
        })
      return prepare(name.replaceAll(/[^\w.-]/g, '_'), {
        ...{ command: [process.execPath, ...FLAGS], cwd: undefined, env: {}, sandbox: 'on' },
        network: needs.network.length === 0 ? 'none' : needs.network,
        folders: needs.folders.map(expand),
        reads: [...needs.reads.map(expand), ...programPaths()],
      })
    },
    load: () => ({
      ...{ type: 'load', name, entry: manifest.entry, digest: files.digest, options: { ...entry.options } },
      files: Object.fromEntries([...files.files].map(([path, bytes]) => [path, bytes.toString('base64')])),
      secrets: { ...readSecrets() },
    }),
    log: (event, details) => host.get('log').write('info', event, details),
  })
}
