/** Homes with MCP servers, for tests. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import type { App, AppOptions } from '../../src/app.ts'
import type { CallResult } from '../../src/domain/decision.ts'
import type { McpState } from '../../src/ports/mcp.ts'
import type { TaskResult } from '../../src/run-task.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { NODE_FLAGS } from '../crash/kills.ts'
import type { Told } from '../mcp/acting.ts'
import { freshFolder, journalOf, openApp, runTaskIn, waitUntil } from './open-app.ts'

const MCP_TESTS = join(import.meta.dirname, '../mcp')
const main = (name: string): string[] => [process.execPath, ...NODE_FLAGS, join(MCP_TESTS, `${name}-main.ts`)]

/** A server that does what the files of `folder` say. */
export class ControlledServer {
  readonly folder: string
  constructor(t: TestContext) {
    this.folder = freshFolder(t, 'acting')
    mkdirSync(this.folder, { recursive: true })
  }
  get command(): string[] {
    return [...main('acting-server'), this.folder]
  }
  /** The same, as the SDK makes it. */
  get sdkCommand(): string[] {
    return [...main('acting-sdk'), this.folder]
  }
  /** `calls`: so many have to be under way. */
  setMode(mode: string, calls = 1): void {
    writeFileSync(join(this.folder, 'mode'), mode)
    writeFileSync(join(this.folder, 'calls'), String(calls))
  }
  setTools(told: Told): void {
    writeFileSync(join(this.folder, 'tools'), JSON.stringify(told))
  }
  /** What it wrote down, those lines that begin like this. */
  logLines(beginning = ''): string[] {
    const file = join(this.folder, 'log')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return lines.filter((line) => line.startsWith(beginning))
  }
  pids(what: 'started' | 'child' = 'started'): number[] {
    return this.logLines(what).map((line) => Number(line.split(' ')[1]))
  }
}

export const plainServer = (how: string): string[] => [...main('plain-server'), how]

export const everythingServer = (...args: string[]): string[] => [
  process.execPath,
  packaged('server-everything'),
  ...args,
]
export const filesystemServer = (...args: string[]): string[] => [
  process.execPath,
  packaged('server-filesystem'),
  ...args,
]

const packaged = (name: string): string =>
  join(import.meta.dirname, '../../node_modules/@modelcontextprotocol', name, 'dist/index.js')

/** Most of these processes live for one call: they need not compile what was compiled before. Not where a test says what they know. */
const { NODE_COMPILE_CACHE } = process.env
const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

export function serversYaml(servers: Record<string, object>): string {
  const given = Object.entries(servers).map(([name, server]) => [name, 'url' in server ? server : { env, ...server }])
  return stringify({ mcp_servers: Object.fromEntries(given) })
}

/** Nothing here runs commands, so nobody need try the sandbox. */
export const configYaml = (servers: Record<string, object>): string => `sandbox: off\n${serversYaml(servers)}`

export const toolCall = (name: string, args: Record<string, string | number> = {}) => ({
  calls: [{ tool: 'tool_call', args: { name, args } }],
})
export const toolSearch = (query: string) => ({ calls: [{ tool: 'tool_search', args: { query } }] })

export interface McpRun {
  readonly app: App
  readonly model: ScriptedModel
  readonly result: TaskResult
  /** What the calls came to, in order. */
  readonly results: readonly CallResult[]
  /** The names under which they were intended. */
  readonly intended: readonly string[]
}

/** It says where calls of `act` go: nothing from outside is needed for them. */
const TASK = 'Act on something.'

/** One task: each of the answers in turn, then the end. */
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

/** One call that hangs until its three seconds are over. */
export async function runTimedOutCall(
  t: TestContext,
  acting: ControlledServer,
  servers: Record<string, object>,
): Promise<McpRun> {
  acting.setMode('hang')
  const clock = new FakeClock()
  const playing = runWithServers(t, servers, [toolSearch('act'), toolCall('a__act', { what: 'something' })], { clock })
  await waitUntil(() => acting.logLines('acted').length === 1)
  await clock.advance(3000)
  return playing
}

export const testServer = async (app: App, server: string): Promise<McpState & { readonly ok: boolean }> =>
  (await app.run('mcp test', { server })) as McpState & { readonly ok: boolean }

export const listServers = async (app: App): Promise<McpState[]> =>
  ((await app.run('mcp list', {})) as { items: McpState[] }).items

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] !== 'Z'
  } catch {
    return false
  }
}
