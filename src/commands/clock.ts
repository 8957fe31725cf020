/** The wall clock: what it shows, and whether the commits of the store bear it out. */

import { z } from 'zod'
import { CLOCK_NEED } from '../kernel/notify/clock-note.ts'
import { iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'

export const clockAccept = defineCommand({
  name: 'clock accept',
  summary: 'say that the clock of this machine is right, so that old records may expire again',
  example: 'clock accept',
  runsIn: 'any_process',
  needs: ['clock', 'clockTrust', 'store'],
  input: z.object({}),
  output: z.object({
    now: z.string().describe('what the clock shows'),
    was_in_doubt: z.boolean(),
    borne_out: z.string().describe('the time that was borne out before'),
  }),
  async run(context) {
    const { clock, clockTrust } = context
    const before = clock.borneOut()
    const was_in_doubt = clockTrust.doubt() !== undefined
    await clockTrust.accept()
    const { store } = context
    if (await store.openNeed(CLOCK_NEED))
      await commitOne(store, [{ op: 'need_withdraw', same_as: CLOCK_NEED, now: clock.now() }])
    if (was_in_doubt) await auditOwnerAction(context, 'clock accept', { borne_out: iso(before) })
    return { now: iso(clock.now()), was_in_doubt, borne_out: iso(before) }
  },
})
