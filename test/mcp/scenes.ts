/** Homes with MCP servers, for tests. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import type { App, AppOptions } from '../../src/app.ts'
import type { CallResult } from '../../src/domain/decision.ts'
import type { TaskResult } from '../../src/library.ts'
import type { McpState } from '../../src/ports/mcp.ts'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from '../apps.ts'
import { NODE_FLAGS } from '../crash/kills.ts'

const main = (name: string): string[] => [process.execPath, ...NODE_FLAGS, join(import.meta.dirname, `${name}-main.ts`)]

/** A server that does what the files of `folder` say. */
export class Acting {
  readonly folder: string
  constructor(t: TestContext) {
    this.folder = freshFolder(t, 'acting')
    mkdirSync(this.folder, { recursive: true })
  }
  get command(): string[] {
    return [...main('acting-server'), this.folder]
  }
  mode(mode: string): void {
    writeFileSync(join(this.folder, 'mode'), mode)
  }
  tools(told: { readonly description?: string; readonly more?: readonly string[] }): void {
    writeFileSync(join(this.folder, 'tools'), JSON.stringify(told))
  }
  /** What it wrote down, those lines that begin like this. */
  log(beginning = ''): string[] {
    const file = join(this.folder, 'log')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return lines.filter((line) => line.startsWith(beginning))
  }
  pids(what: 'started' | 'child' = 'started'): number[] {
    return this.log(what).map((line) => Number(line.split(' ')[1]))
  }
}

/** The same over HTTP. */
export async function actingOverHttp(t: TestContext): Promise<{ acting: Acting; url: string; pid: number }> {
  const acting = new Acting(t)
  const [program = '', ...args] = acting.command
  const child = spawn(program, [...args, '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  return { acting, url: line.trim(), pid: child.pid ?? 0 }
}

export const plain = (how: string): string[] => [...main('plain-server'), how]

export const everything = (...args: string[]): string[] => [process.execPath, packaged('server-everything'), ...args]
export const filesystem = (...args: string[]): string[] => [process.execPath, packaged('server-filesystem'), ...args]

const packaged = (name: string): string =>
  join(import.meta.dirname, '../../node_modules/@modelcontextprotocol', name, 'dist/index.js')

export const yamlWith = (mcp_servers: Record<string, unknown>): string => stringify({ mcp_servers })

export const toolCall = (name: string, args: Record<string, string | number> = {}) => ({
  calls: [{ tool: 'tool_call', args: { name, args } }],
})
export const toolSearch = (query: string) => ({ calls: [{ tool: 'tool_search', args: { query } }] })

export interface Scene {
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
export async function played(
  t: TestContext,
  servers: Record<string, unknown>,
  answers: readonly ScriptedStep[],
  options: AppOptions = {},
): Promise<Scene> {
  const model = scriptedModel([...answers, { text: 'finished' }])
  const app = await openApp(t, { yaml: yamlWith(servers), model, ...options })
  const result = await runTaskIn(app, TASK)
  const journal = await journalOf(app, result.session_id)
  return {
    ...{ app, model, result },
    results: journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result] : [])),
    intended: journal.flatMap((record) => (record.kind === 'call_intended' ? [record.call.tool] : [])),
  }
}

export const seen = async (app: App, server: string): Promise<McpState & { readonly ok: boolean }> =>
  (await app.run('mcp test', { server })) as McpState & { readonly ok: boolean }

export const listed = async (app: App): Promise<McpState[]> =>
  ((await app.run('mcp list', {})) as { items: McpState[] }).items

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] !== 'Z'
  } catch {
    return false
  }
}
