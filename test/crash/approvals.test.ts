import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { freshFolder, openApp } from '../support/open-app.ts'
import { askFirst, modelAwaitingReply } from './approvals-tools.ts'
import { NODE_FLAGS, run } from './kills.ts'
import { actTool, effectsIn, type KillPoint } from './recovery-tools.ts'

const ends = [
  ['idempotent', 'after', 2, 'done', []],
  ['idempotent', 'before', 1, 'done', []],
  ['once', 'after', 1, 'waiting', ['open']],
  ['once', 'before', 0, 'waiting', ['open']],
] as const

describe('an approved call that kill -9 interrupts (case 54, case 93)', () => {
  for (const [recovery, killPoint, runs, status, unknowns] of ends)
    test(`${recovery}, killed ${killPoint} the effect: recovers without another approval`, async (t) => {
      const home = freshFolder(t)
      const log = join(home, 'acted.log')
      const effect = { recovery, reach: 'third_party' } as const
      const main = join(import.meta.dirname, 'approvals-main.ts')
      const died = await run(process.execPath, [
        ...NODE_FLAGS,
        main,
        home,
        log,
        JSON.stringify(effect),
        killPoint as KillPoint,
      ])
      assert.equal(died.exit, null, `the process was not killed: ${died.stderr}`)
      const model = modelAwaitingReply()
      const app = await openApp(t, { home, tools: [actTool(log, effect, 'never')], model, gates: [askFirst] })
      await app.run('start', { until_idle: true })
      const keys = effectsIn(log)
      assert.deepEqual(
        { keyCount: keys.length, distinctKeys: new Set(keys).size },
        { keyCount: runs, distinctKeys: Math.min(runs, 1) },
      )
      const { items } = await app.run('queue list', {})
      assert.deepEqual(
        items.map((dispatch) => dispatch.status),
        [status],
      )
      const listed = (await app.run('unknowns list', {})).items
      assert.deepEqual(
        listed.map((unknown) => unknown.status),
        unknowns,
      )
      assert.equal((await app.run('approvals list', {})).items.length, 1)
      if (status === 'done') assert.match(JSON.stringify(model.requests[0]?.messages.at(-1)), /\[approved: act\] acted/)
    })
})
