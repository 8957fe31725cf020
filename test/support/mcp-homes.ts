/** Homes with MCP servers. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import type { App, AppOptions } from '../../src/app.ts'
import type { CommandOutput } from '../../src/commands/lib/registry.ts'
import type { CallResult } from '../../src/domain/decision.ts'
import type { McpState } from '../../src/ports/mcp.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { NODE_FLAGS } from '../crash/kills.ts'
import type { ToolListing } from '../mcp/controlled-server.ts'
import { freshFolder, journalOf, openApp, runTaskIn, waitUntil } from './open-app.ts'

const MCP_TESTS = join(import.meta.dirname, '../mcp')
const main = (name: string): string[] => [process.execPath, ...NODE_FLAGS, join(MCP_TESTS, `${name}-main.ts`)]

/** An MCP server that a test controls through files in `folder`. */
export class ControlledServer {
  readonly folder: string
  constructor(t: TestContext) {
    this.folder = freshFolder(t, 'controlled')
    mkdirSync(this.folder, { recursive: true })
  }
  get command(): string[] {
    return [...main('controlled-server'), this.folder]
  }
  /** The same server, built with the SDK. */
  get sdkCommand(): string[] {
    return [...main('controlled-server-sdk'), this.folder]
  }
  /** `calls`: how many calls must be in progress before the mode takes effect. */
  setMode(mode: string, calls = 1): void {
    writeFileSync(join(this.folder, 'mode'), mode)
    writeFileSync(join(this.folder, 'calls'), String(calls))
  }
  setTools(listing: ToolListing): void {
    writeFileSync(join(this.folder, 'tools'), JSON.stringify(listing))
  }
  /** The lines of the server's log with this prefix. */
  logLines(prefix = ''): string[] {
    const file = join(this.folder, 'log')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return lines.filter((line) => line.startsWith(prefix))
  }
  pids(what: 'started' | 'child' = 'started'): number[] {
    return this.logLines(what).map((line) => Number(line.split(' ')[1]))
  }
}

export const plainServer = (how: string): string[] => [...main('handshake-server'), how]

export const everythingServer = (...args: string[]): string[] => [
  process.execPath,
  packagePath('server-everything'),
  ...args,
]
export const filesystemServer = (...args: string[]): string[] => [
  process.execPath,
  packagePath('server-filesystem'),
  ...args,
]

const packagePath = (name: string): string =>
  join(import.meta.dirname, '../../node_modules/@modelcontextprotocol', name, 'dist/index.js')

/** Server processes are short; a shared compile cache starts them faster. A test may set `env` itself. */
const { NODE_COMPILE_CACHE } = process.env
const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

export function serversYaml(servers: Record<string, object>): string {
  const given = Object.entries(servers).map(([name, server]) => [name, 'url' in server ? server : { env, ...server }])
  return stringify({ mcp_servers: Object.fromEntries(given) })
}

/** No command is run here, so the sandbox is not probed. */
export const configYaml = (servers: Record<string, object>): string => `sandbox: off\n${serversYaml(servers)}`

export const toolCall = (name: string, args: Record<string, string | number> = {}) => ({
  calls: [{ tool: 'tool_call', args: { name, args } }],
})
export const toolSearch = (query: string) => ({ calls: [{ tool: 'tool_search', args: { query } }] })

interface McpRun {
  readonly app: App
  readonly model: ScriptedModel
  readonly result: CommandOutput<'run'>
  /** The results of the calls, in order. */
  readonly results: readonly CallResult[]
  /** The tool names of the recorded intents, in order. */
  readonly intended: readonly string[]
}

/** The task names the argument of `act`, so that the policy sees it as the owner's. */
const TASK = 'Act on something.'

/** Runs one task with these model answers and a final one. */
export async function runWithServers(
  t: TestContext,
  servers: Record<string, object>,
  answers: readonly ScriptedStep[],
  options: AppOptions = {},
): Promise<McpRun> {
  const model = scriptedModel([...answers, { text: 'finished' }])
  const app = await openApp(t, { yaml: configYaml(servers), model, ...options })
  const result = await runTaskIn(app, TASK)
  const journal = await journalOf(app, result.session_id)
  return {
    ...{ app, model, result },
    results: journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result] : [])),
    intended: journal.flatMap((record) => (record.kind === 'call_intended' ? [record.call.tool] : [])),
  }
}

/** Runs one call that hangs until its timeout of three seconds. */
export async function runTimedOutCall(
  t: TestContext,
  server: ControlledServer,
  servers: Record<string, object>,
): Promise<McpRun> {
  server.setMode('hang')
  const clock = new FakeClock()
  const run = runWithServers(t, servers, [toolSearch('act'), toolCall('a__act', { what: 'something' })], { clock })
  await waitUntil(() => server.logLines('acted').length === 1)
  await clock.advance(3000)
  return run
}

export const testServer = async (app: App, server: string): Promise<McpState & { readonly ok: boolean }> =>
  await app.run('mcp test', { server })

export const listServers = async (app: App): Promise<McpState[]> => (await app.run('mcp list', {})).items

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] !== 'Z'
  } catch {
    return false
  }
}

/** Effects that the owner configures for tools of the controlled server. */
export const ACT = { act: { recovery: 'pure', reach: 'none' }, environment: { recovery: 'pure', reach: 'none' } }
