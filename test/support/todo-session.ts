/** A session whose todo tools are called directly, in any behaviour. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App } from '../../src/app.ts'
import type { CallResult } from '../../src/domain/decision.ts'
import { CLEAN_LABEL } from '../../src/domain/label.ts'
import type { Todo } from '../../src/domain/todo.ts'
import { requireOps } from '../../src/ports/env.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { freshFolder, openApp } from './open-app.ts'

export interface TodoSession {
  readonly app: App
  readonly session_id: string
  readonly workspace: string
  /** `key`: the key of the call; default: a new one. */
  call(behaviour: string, tool: string, args: object, key?: string): Promise<CallResult>
  /** Contract: the content of a result with that status. */
  ok(behaviour: string, tool: string, args: object): Promise<string>
  error(behaviour: string, tool: string, args: object): Promise<string>
  add(args: object): Promise<string>
  refuses(tool: string, args: object): string | undefined
  todo(code: string): Promise<Todo>
  todos(): Promise<readonly Todo[]>
  /** Names of the copies of workspaces that are left. */
  copies(): readonly string[]
}

/** Contract: a pending session in an empty workspace. `yaml`: added to the configuration. */
export async function openTodoSession(t: TestContext, yaml = ''): Promise<TodoSession> {
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: `sandbox: off\n${yaml}` })
  const { dispatch_id } = await app.run('enqueue', { prompt: 'plan' })
  const { session_id } = await app.run('queue show', { id: dispatch_id })
  const { store } = app.context
  const { workspace } = (await store.session(session_id)) ?? assert.fail('no session')
  const env = await app.service('envs').open(workspace)
  const toolOf = (name: string): AnyTool => app.service('tools').all.get(name) ?? assert.fail(`no tool ${name}`)
  let calls = 0
  const call: TodoSession['call'] = (behaviour, name, args, key) => {
    calls += 1
    const tool = toolOf(name)
    return tool.run(tool.args.parse(args), {
      ...{
        env,
        clock: app.context.clock,
        signal: new AbortController().signal,
        call: key ?? `${session_id}.call${calls}`,
        state: null,
        behaviour,
      },
      ops: (group) => requireOps(env, group),
      origin: { agent_id: 'default', session_id, turn: 1 },
      ...{ intendedAt: 0, seen: new Map(), label: CLEAN_LABEL, cwd: '', say: () => {} },
    })
  }
  const expecting =
    (status: CallResult['status']) =>
    async (behaviour: string, tool: string, args: object): Promise<string> => {
      const result = await call(behaviour, tool, args)
      assert.equal(result.status, status, result.content)
      return result.content
    }
  return {
    ...{ app, session_id, workspace, call, ok: expecting('ok'), error: expecting('error') },
    add: (args) => expecting('ok')('plan', 'todo_add', args),
    refuses: (name, args) => toolOf(name).refuses?.(toolOf(name).args.parse(args)),
    todo: async (code) => (await store.todo(session_id, code)) ?? assert.fail(`no todo ${code}`),
    todos: () => store.todos(session_id),
    copies: () => readdirSync(join(home, 'copies')),
  }
}
