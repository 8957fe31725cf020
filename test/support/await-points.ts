/**
 * Stops a run at each of its await points, one after the other: before and after every commit and every read of the
 * inbox, every call of the model and every call of a tool.
 */

import { z } from 'zod'
import { defineTool } from '../../src/ports/define-tool.ts'
import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import type { ScriptedModel } from '../../src/testing/scripted-model.ts'

export interface AwaitPoints {
  readonly plugin: Plugin
  /** Tool `look`, which does nothing but pass a point. */
  readonly tool: AnyTool
  /** Contract: the same model; its calls pass points. */
  watch<M extends ScriptedModel>(model: M): M
  /**
   * Contract: does the work, and runs `at` when the work passes point `n` (from 0) for the first time. Resolves with
   * the name of that point; undefined: the work has fewer points.
   */
  during(n: number, at: () => Promise<unknown>, work: () => Promise<unknown>): Promise<string | undefined>
}

export function awaitPoints(): AwaitPoints {
  let left = -1
  let act: (() => Promise<unknown>) | undefined
  let reached: string | undefined
  const pass = async (name: string): Promise<void> => {
    if (act === undefined || left-- > 0) return
    const now = act
    // What happens at the point passes no further one.
    act = undefined
    reached = name
    await now()
  }
  const tool = defineTool<Record<string, never>>({
    name: 'look',
    description: 'looks',
    args: z.strictObject({}),
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    gives: () => ({ trust: 'trusted', private: false }),
    async run() {
      await pass('in a call of a tool')
      return { status: 'ok', content: 'seen' }
    },
  })
  return {
    plugin: watchStore(pass),
    tool,
    watch: (model) => ({
      ...model,
      async call(request, options) {
        await pass('before the model is asked')
        const answer = await model.call(request, options)
        await pass('after the model has answered')
        return answer
      },
    }),
    async during(n, at, work) {
      ;[left, act, reached] = [n, at, undefined]
      await work()
      act = undefined
      return reached
    },
  }
}

const watchStore = (pass: (name: string) => Promise<void>): Plugin =>
  definePlugin({
    name: 'await points',
    needs: ['store'],
    setup(host) {
      const store = host.get('store')
      const { commit, inbox } = store
      const watchedCommit: typeof commit = async (batches) => {
        const name = batches.flatMap(({ ops }) => ops.map(({ op }) => op)).join(', ')
        await pass(`before the commit ${name}`)
        const results = await commit.call(store, batches)
        await pass(`after the commit ${name}`)
        return results
      }
      const watchedInbox: typeof inbox = async (session) => {
        await pass('before the inbox is read')
        const unread = await inbox.call(store, session)
        await pass('after the inbox was read')
        return unread
      }
      Object.assign(store, { commit: watchedCommit, inbox: watchedInbox })
    },
  })
