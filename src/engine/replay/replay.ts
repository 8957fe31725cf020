/**
 * Replays a recorded run with the same engine, isolated from the outside. Model, tools, critics, hooks, people and
 * clock return what the journal recorded. Behaviour, parser, deterministic memory and engine run again and must produce
 * the same records.
 * Must not know: the real store, network and clock.
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import type { JournalRecord, RunSetup } from '../../domain/journal-record.ts'
import { NO_SECRETS } from '../../ports/secrets.ts'
import { NO_SNAPSHOTS } from '../../ports/snapshots.ts'
import type { Store } from '../../ports/store.ts'
import { Interruption } from '../abort-reason.ts'
import { advanceDispatch, type CancelSignals, type StopSignals } from '../advance.ts'
import { Breaker } from '../request/model-fallback.ts'
import type { Engine } from '../run.ts'
import type { RequestSource } from '../sources.ts'
import {
  recordedClock,
  recordedCritic,
  recordedEnv,
  recordedHooks,
  recordedMemory,
  recordedModels,
  recordedTool,
} from './recorded-ports.ts'
import { createReplaySources } from './replay-sources.ts'
import { createReplayStore } from './replay-store.ts'
import { ReplayTape } from './replay-tape.ts'

/**
 * Maximum number of replayed processes in a row without a new record. Such processes occur, for example, if the end of
 * the run was recorded by another run.
 */
const MAX_BARREN = 3

/**
 * Contract: returns the records that the engine produces, up to the end of the recording or the first divergence.
 * `onRequest`: called with every request that a live run would send.
 */
export async function replayRun(
  engine: Engine,
  dispatch: Dispatch,
  past: readonly JournalRecord[],
  records: readonly JournalRecord[],
  onRequest: RequestSource['onRequest'] = () => {},
): Promise<readonly JournalRecord[]> {
  const tape = new ReplayTape(records, past)
  for (let barren = 0; barren < MAX_BARREN && !tape.isOver(); ) {
    const before = tape.committedRecords().length
    await replayProcess(engine, dispatch, tape, onRequest)
    barren = tape.committedRecords().length > before ? 0 : barren + 1
  }
  return tape.committedRecords()
}

/** Replays one process of the run, until the run ends, is released, or the process was killed. */
async function replayProcess(
  engine: Engine,
  dispatch: Dispatch,
  tape: ReplayTape,
  onRequest: RequestSource['onRequest'],
): Promise<void> {
  const { drain, abort, cancelling, died } = startProcess(tape)
  const setup = tape.setup()
  const sources = createReplaySources(tape, setup, onRequest)
  const isolated = { ...isolateEngine(engine, createReplayStore(dispatch, tape), tape, setup), sources }
  const replayed = { ...dispatch, metadata: { ...dispatch.metadata, ...recordedOverrides(tape, setup) } }
  const finished = advanceDispatch(isolated, replayed, { drain, abort }, cancelling).then(
    () => {},
    () => tape.diverge(),
  )
  await Promise.race([finished, died])
}

interface ReplayedProcess extends StopSignals {
  readonly cancelling: CancelSignals
  /** Resolves when the tape kills the process. */
  readonly died: Promise<void>
}

/** Gives the tape control over the next process. A run that takes no further step is interrupted at once. */
function startProcess(tape: ReplayTape): ReplayedProcess {
  const [drain, abort] = [new AbortController(), new AbortController()]
  const [afterStep, immediate] = [new AbortController(), new AbortController()]
  const died = new Promise<void>((resolve) =>
    tape.restart({
      kill: resolve,
      release: () => drain.abort('replay'),
      interrupt(why) {
        if (why === 'stopping') drain.abort('replay')
        abort.abort(new Interruption(why))
      },
      cancelAfterStep: () => afterStep.abort('replay'),
    }),
  )
  const ended = tape.whyEndedHere() ?? tape.whyClosedHere()
  if (ended === 'cancelled') immediate.abort(new Interruption(ended))
  else if (ended) abort.abort(new Interruption(ended))
  const cancelling = { afterStep: afterStep.signal, immediate: immediate.signal }
  return { drain: drain.signal, abort: abort.signal, cancelling, died }
}

/** The engine with every port that reaches outside replaced. Behaviours and parsers are the engine's own. */
function isolateEngine(engine: Engine, store: Store, tape: ReplayTape, setup: RunSetup): Engine {
  const { discoverTool: _, ...kept } = engine
  const toolNames = [...setup.tools, ...lazyTools(engine)]
  return {
    ...kept,
    store,
    clock: recordedClock(tape),
    ids: { next: () => 'replay' },
    models: recordedModels(tape, setup),
    breaker: new Breaker(),
    envs: { open: async () => recordedEnv(tape) },
    tools: new Map(toolNames.map((name) => [name, recordedTool(tape, name, engine.tools.get(name))])),
    critics: () => setup.critics.map((name) => recordedCritic(tape, name)),
    behaviours: {
      get: (agent, name) => ({ ...engine.behaviours.get(agent, name), tools: setup.tools, critics: [] }),
    },
    hooks: () => recordedHooks(tape),
    memories: replayedMemories(engine, tape),
    recoveryRules: () => [],
    stopRules: () => [],
    // Records are already redacted. A secret added later must not change the replay.
    secrets: NO_SECRETS,
    snapshots: NO_SNAPSHOTS,
    skills: {
      brief: async () => ({
        ...{ skills: setup.skills ?? [], instructions: setup.instructions ?? null, role: setup.role ?? null },
      }),
    },
    sink: { onRunOpened() {}, onRecord() {}, onRunClosed() {}, delta() {} },
    budget: setup.budget,
  }
}

/** Deterministic memories run again; what the others gave is on the tape. They need not be installed. */
function replayedMemories({ memories }: Engine, tape: ReplayTape): Engine['memories'] {
  const deterministic = [...memories].filter(([, { isDeterministic }]) => isDeterministic)
  const { memory } = tape.setup()
  return new Map([[memory, recordedMemory(tape, memory)], ...deterministic])
}

const lazyTools = ({ tools }: Engine): readonly string[] =>
  [...tools.values()].flatMap(({ name, lazy }) => (lazy ? [name] : []))

const recordedOverrides = ({ behaviour }: ReplayTape, { parser, memory, budget }: RunSetup) => ({
  behaviour,
  parser,
  memory,
  budget: { ...budget },
  resources: [],
})
