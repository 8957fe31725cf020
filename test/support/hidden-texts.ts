/** Runs of a model in a folder with secrets: it reads results of calls and writes back what it read. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { Json } from '../../src/domain/json.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from './open-app.ts'
import { isIntent } from './policy-fixtures.ts'
import { setSecrets } from './secret-fixtures.ts'

/** What the model makes of the result of its last call. */
export type Move = (lastResult: string) => ScriptedAnswer

export const callTool = (tool: string, args: Json): ScriptedAnswer => ({ calls: [{ tool, args }] })

export const move =
  (tool: string, args: Json): Move =>
  () =>
    callTool(tool, args)

/** What the model is told below a result with placeholders. */
const NOTE = /\n\[‹secret:NAME› stands for a text that is there, but hidden from you\. .*\]$/

export interface FinishedRun {
  readonly id: string
  readonly session: string
  readonly results: readonly { readonly status: string; readonly content: string }[]
  readonly journal: readonly JournalRecord[]
}

export interface SecretWork {
  readonly app: App
  readonly home: string
  readonly run: (...moves: readonly Move[]) => Promise<FinishedRun>
  /** The last request to the model, as JSON. */
  readonly lastRequest: () => string
  /** Writes and reads files of the agent's folder. */
  readonly write: (path: string, text: string) => void
  readonly read: (path: string) => string
}

interface WorkOptions extends AppOptions {
  /** Configuration besides the agent. */
  readonly settings?: Readonly<Record<string, Json>>
}

export async function openSecretWork(
  t: TestContext,
  secrets: Readonly<Record<string, string>>,
  { settings = {}, ...options }: WorkOptions = {},
): Promise<SecretWork> {
  let moves: readonly Move[] = []
  const model = scriptedModel((request, turn) => {
    if (isIntent(request)) return { text: '[]' }
    const last = request.messages.at(-1)
    return moves[turn]?.(last?.role === 'tool' ? last.text.replace(NOTE, '') : '') ?? { text: 'done' }
  })
  const home = options.home ?? freshFolder(t)
  const folder = join(home, 'workspaces', 'w')
  mkdirSync(folder, { recursive: true })
  const kernel = { agents: [{ agent_id: 'w', prompt: 'work', workspace: 'workspaces/w' }] }
  const app = await openApp(t, { model, home, yaml: JSON.stringify({ kernel, ...settings }), ...options })
  await setSecrets(app, secrets)
  return {
    app,
    home,
    async run(...next) {
      moves = next
      const { session_id, dispatch_id } = await runTaskIn(app, 'the task', { agent: 'w', behaviour: 'solo' })
      const journal = await journalOf(app, session_id)
      const results = journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result] : []))
      return { id: dispatch_id, session: session_id, results, journal }
    },
    lastRequest: () => JSON.stringify(model.requests.at(-1)),
    write(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
    read: (path) => readFileSync(join(folder, path), 'utf8'),
  }
}
