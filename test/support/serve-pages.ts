/** Local web servers, and runs of a scripted agent against them. */

import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { CallResult } from '../../src/domain/decision.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { resultsOf } from './fake-tools.ts'
import { openApp, runTaskIn } from './open-app.ts'

export interface Site {
  readonly port: number
  /** `METHOD host/path`, in order. */
  readonly requests: string[]
  /** Request bodies, in order. */
  readonly bodies: string[]
}

export async function startSite(t: TestContext, answer: http.RequestListener): Promise<Site> {
  const requests: string[] = []
  const bodies: string[] = []
  const server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`)
    let body = ''
    request.on('data', (data) => {
      body += String(data)
    })
    request.on('end', () => {
      bodies.push(body)
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests, bodies }
}

export const callStep = (tool: string, args: object = {}): ScriptedStep => ({ calls: [{ tool, args: { ...args } }] })

export interface AgentRun {
  readonly app: App
  readonly results: readonly CallResult[]
  readonly session_id: string
  readonly workspace: string
}

/** Runs an agent that makes these calls one after the other. */
export async function runAgent(
  t: TestContext,
  calls: readonly ScriptedStep[],
  options: AppOptions & { yaml?: string } = {},
  input: object = {},
): Promise<AgentRun> {
  const app = await openApp(t, {
    model: scriptedModel([...calls, { text: 'done' }]),
    yaml: allowHostsYaml(),
    ...options,
  })
  const { session_id, workspace } = await runTaskIn(app, 'the task', input)
  return { app, results: await resultsOf(app, session_id), session_id, workspace }
}

/** A resolver that knows only these names. */
export const fakeDns =
  (known: Readonly<Record<string, string>>) =>
  async (name: string): Promise<readonly string[]> => {
    const ip = known[name]
    if (ip !== undefined) return [ip]
    throw Object.assign(new Error(`no ${name}`), { code: 'ENOTFOUND' })
  }

/** Configuration: these hosts are listed and each tool is granted any destination, so that only egress rules apply. */
export function allowHostsYaml(...hosts: readonly string[]): string {
  const grants = ['fetch', 'git', 'browser', 'send_message'].map((tool) => ({ tool, to: ['*', '* *', '* **'] }))
  return `policy: ${JSON.stringify({ allow_hosts: hosts, grants })}\n`
}

/** Runs each call in its own run, because a run gives up after a few refused calls. */
export async function runEachCallAlone(
  t: TestContext,
  calls: readonly ScriptedStep[],
  options: AppOptions & { yaml?: string } = {},
): Promise<Pick<AgentRun, 'app' | 'results'>> {
  let at = 0
  const model = scriptedModel((_, turn) => (turn === 0 ? (calls[at] ?? { text: 'none' }) : { text: 'done' }))
  const app = await openApp(t, { model, yaml: allowHostsYaml(), ...options })
  const results: CallResult[] = []
  for (at = 0; at < calls.length; at += 1) results.push(...(await resultsOf(app, (await runTaskIn(app)).session_id)))
  return { app, results }
}
