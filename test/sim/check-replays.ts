/** Replays every run of a finished world offline. Each replay must produce the recorded events. */

import { createEventFold } from '../../src/domain/event-fold.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import { recordsOfRun } from '../../src/domain/journal-record.ts'
import { replayRun } from '../../src/engine/replay/replay.ts'
import type { Engine } from '../../src/engine/run.ts'
import type { Store } from '../../src/ports/store.ts'
import { composeEngine } from './compose-engine.ts'
import { SimProcess } from './process.ts'
import type { World } from './world.ts'

/** Reports a Q17 violation for a replay that differs. */
export async function checkReplays(world: World): Promise<void> {
  const proc = new SimProcess(world)
  // This process is not part of the world: it receives no events.
  proc.state = 'exited'
  const engine: Engine = composeEngine(world, proc, NO_STORE)
  for (const { session_id } of await world.reader.sessions({ limit: 1000 })) {
    const journal = await world.reader.journal(session_id)
    for (const started of journal) {
      if (started.kind !== 'run_started') continue
      const records = recordsOfRun(journal, started.run_id)
      const dispatch = await world.reader.dispatch(started.run_id)
      // Set aside as poison: a later run wrote its end.
      if (!dispatch || wasClosedByLaterRun(records)) continue
      const past = journal.filter(({ seq }) => seq < started.seq)
      const replay = await replayRun(engine, dispatch, past, records)
      const [recorded, replayed] = [eventsOf(started.run_id, records), eventsOf(started.run_id, replay)]
      const at = recorded.findIndex((event, i) => event !== replayed[i])
      world.counters.add('run replayed')
      if (at >= 0 || recorded.length !== replayed.length)
        world.fail('Q17', `${started.run_id}: event ${at + 1} was ${recorded[at]}, the replay gives ${replayed[at]}`)
    }
  }
}

const NO_STORE = {} as Store

const wasClosedByLaterRun = (records: readonly JournalRecord[]): boolean =>
  records.some((record) => record.kind === 'run_ended' && record.error?.includes('without a record in its journal'))

function eventsOf(run_id: string, records: readonly JournalRecord[]): readonly string[] {
  const fold = createEventFold({ run_id, session_id: '' })
  return records.flatMap((record) => fold.apply(record)).map(({ ts: _, ...event }) => JSON.stringify(event))
}
