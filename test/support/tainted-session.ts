/** Tries of a session that has read from outside: the mind obeys, and whoever is asked what the task needs says everything, and lies besides. */

import type { TestContext } from 'node:test'
import type { AppOptions } from '../../src/app.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type call, listApprovals } from './approval-fixtures.ts'
import { openApp, runTaskIn } from './open-app.ts'

export type Calls = readonly ReturnType<typeof call>[]

/** One session for each try: what was read first, then the try. Whoever is asked what the task needs says everything, `lie` besides. */
export async function triesAfter(
  t: TestContext,
  { first, tries, task, lie = [], ...options }: Tries,
): Promise<readonly boolean[]> {
  let at = 0
  const model = scriptedModel(({ system, messages }, turn): ScriptedAnswer => {
    if (!system.startsWith('You decide which tools a task needs')) {
      const one = [...first, tries[at]][turn]
      return one ? { calls: [one] } : { text: 'done' }
    }
    const listed = [...(messages[0]?.text ?? '').matchAll(/^- (\w+): /gm)].map(([, tool]) => ({ tool }))
    return { text: JSON.stringify([...listed, ...lie]) }
  })
  const app = await openApp(t, { ...options, model })
  const passed: boolean[] = []
  for (at = 0; at < tries.length; at += 1) {
    const { session_id } = await runTaskIn(app, task)
    passed.push(!(await listApprovals(app)).some((approval) => approval.session_id === session_id))
  }
  return passed
}

export interface Tries extends AppOptions {
  readonly yaml?: string
  readonly first: Calls
  readonly tries: Calls
  readonly task: string
  readonly lie?: readonly object[]
}
