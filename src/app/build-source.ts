/** Builds a source from its configuration. */

import { createMarkedTree } from '../adapters/envs/host/marked-tree.ts'
import { processTable } from '../adapters/envs/host/process-table.ts'
import { filesSource } from '../adapters/sources/files.ts'
import { type LineInput, linesSource } from '../adapters/sources/lines.ts'
import { mcpResourceSource } from '../adapters/sources/mcp-resource.ts'
import { commandSource } from '../adapters/sources/process.ts'
import { watchedProcessSource } from '../adapters/sources/watched-process.ts'
import { webhookSource } from '../adapters/sources/webhook.ts'
import { webSocketSource } from '../adapters/sources/websocket.ts'
import { watchFolder } from '../adapters/system/file-watch.ts'
import { resolveSecret, type SourceConfig } from '../config.ts'
import { assertNever, TirelessError } from '../domain/error.ts'
import type { Label } from '../domain/label.ts'
import { localZone } from '../kernel/schedule/time-zone.ts'
import { startupSource } from '../kernel/sources/startup-source.ts'
import { timerSource } from '../kernel/sources/timer-source.ts'
import type { PluginHost } from '../ports/plugin.ts'
import type { ProcessStart } from '../ports/process-start.ts'
import type { Source } from '../ports/source.ts'
import { isOwnFolder } from './own-folder.ts'
import { prepareProcesses } from './prepare-processes.ts'

/** What sources of all kinds share. */
export interface SourceParts {
  readonly host: PluginHost
  /** Identifies the start of this process. */
  readonly boot: string
  readonly input: (() => LineInput) | undefined
}

type ProcessConfig = Extract<SourceConfig, { type: 'process' }>

export function buildSource(name: string, config: SourceConfig, parts: SourceParts): Source {
  const { host, boot, input } = parts
  const clock = host.get('clock')
  switch (config.type) {
    case 'webhook': {
      const { event, max_bytes: mostBytes } = config
      return webhookSource({ name, event, mostBytes, secret: secretOf(host, name, config), label: labelOf(config) })
    }
    case 'websocket': {
      const { origins, max_bytes: mostBytes, max_per_second: framesPerSecond } = config
      const secret = secretOf(host, name, config)
      return webSocketSource({ name, origins, mostBytes, framesPerSecond, secret, label: labelOf(config) })
    }
    case 'lines':
      return linesSource({ name, boot, input, terminal: config.terminal, label: labelOf(config) })
    case 'files': {
      const { paths, ignore, max_files: mostFiles, settle: settleMs, poll: pollMs } = config
      const own = isOwnFolder(host.get('home'))
      const watching = { paths, ignore, mostFiles, settleMs, pollMs, watch: watchFolder, isOwnFolder: own }
      return filesSource({ name, clock, label: labelOf(config), ...watching })
    }
    case 'timer': {
      const timezone = config.timezone ?? host.get('config').loaded.config.kernel.timezone ?? localZone()
      return timerSource({ name, event: config.event, clock, timezone, spec: scheduleOf(name, config) })
    }
    case 'process':
      return processSource(name, config, parts)
    case 'mcp_resource': {
      const { server, uri, poll: pollMs, max_chars: mostCharacters } = config
      const mcp = host.get('mcp')
      return mcpResourceSource({ name, server, uri, pollMs, mostCharacters, mcp, clock, label: labelOf(config) })
    }
    case 'startup':
      return startupSource(name, boot, clock)
    default:
      return assertNever(config)
  }
}

const labelOf = (config: { readonly trusted: boolean; readonly private: boolean }): Label => ({
  trust: config.trusted ? 'trusted' : 'untrusted',
  private: config.private,
})

/** Once read, the secret is redacted in all output. */
const secretOf = (host: PluginHost, name: string, config: Parameters<typeof resolveSecret>[0]) => (): string => {
  const { filled, know } = host.get('secrets')
  const secret = filled(resolveSecret(config, `sources.${name}`))
  know(`sources.${name}.secret`, secret)
  return secret
}

function scheduleOf(name: string, { every, cron, at }: Extract<SourceConfig, { type: 'timer' }>) {
  if (every !== undefined) return { every }
  if (cron !== undefined) return cron
  if (at !== undefined) return { at }
  throw new TirelessError('config_invalid', `sources.${name}: expected one of every, cron, at`)
}

function processSource(name: string, config: ProcessConfig, { host }: SourceParts): Source {
  const [clock, ids, home] = [host.get('clock'), host.get('ids'), host.get('home')]
  const { pid, output, restart } = config
  if (pid !== undefined) return watchedProcessSource({ name, pid, identify, clock, label: labelOf(config) })
  const prepare = prepareProcesses(host, 'sources')
  const start = (): Promise<ProcessStart> => {
    const { filled } = host.get('secrets')
    const env = Object.fromEntries(Object.entries(config.env).map(([key, value]) => [key, filled(value)]))
    return prepare(name, { ...config, env })
  }
  const group = createMarkedTree({ TIRELESS_SOURCE: `${home.root}/${name}` }, clock)
  return commandSource({ name, start, group, output, restart, clock, ids, label: labelOf(config) })
}

/** Contract: pid, boot and start time identify a process for ever; undefined if it has exited. */
function identify(pid: number): string | undefined {
  const table = processTable()
  const row = table.row(pid)
  return row === undefined || row.zombie ? undefined : `${pid} ${table.bootId()} ${row.start}`
}
