/** Random days of work, each undone: everything is as in the morning; the undo undone: as in the evening. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { render } from '../../src/cli/views/views.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { advanceUntilDone, freshFolder, openApp } from '../support/open-app.ts'
import { scriptedWork, WORK_YAML } from '../support/scripted-work.ts'
import { listing } from './listing.ts'
import { createDice, randomSteps } from './random-work.ts'

const FULL = process.env.UNDO_SWEEP === 'full'
const DAYS = FULL ? 200 : 10
const SEED = Number(process.env.UNDO_SEED ?? 1)
const DAY_MS = 86_400_000

test(`${DAYS} random days of work are undone and redone exactly`, async (t) => {
  const home = freshFolder(t)
  const workspace = join(home, 'workspaces/writer')
  const work = scriptedWork()
  const clock = new FakeClock({ now: Date.parse('2030-01-01T08:00:00Z') })
  const app = await openApp(t, { home, clock, yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  const takeStock = async () => ({
    files: listing(workspace),
    facts: (await app.run('memory list', {})).items.map(({ agent_id, key, text }) => [agent_id, key, text]).toSorted(),
    state: (await app.run('state show', {})).text,
  })
  await advanceUntilDone(
    clock,
    work.run(app, [{ tool: 'edit_state', args: { section: 'notes', text: 'first' } }, () => {}]),
  )
  for (let day = 1; day <= DAYS; day += 1) {
    const dice = createDice(SEED * 7919 + day)
    await clock.advance(DAY_MS)
    const morning = await takeStock()
    for (let runs = 1 + dice(3); runs > 0; runs -= 1) {
      const { status, error } = await advanceUntilDone(
        clock,
        work.run(app, randomSteps(dice), dice(2) === 0 ? 'writer' : 'other'),
      )
      assert.equal(status, 'done', error ?? '')
    }
    const evening = await takeStock()
    const undone = await advanceUntilDone(clock, app.run('undo', { target: 'today', yes: true }))
    const about = `seed ${SEED}, day ${day}: ${render('undo', undone)}`
    assert.deepEqual(await takeStock(), morning, about)
    if (undone.id !== null) await advanceUntilDone(clock, app.run('undo', { target: undone.id, yes: true }))
    assert.deepEqual(await takeStock(), evening, `redo, ${about}`)
  }
})
