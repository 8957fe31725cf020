/** The controls of a replay: play, speed, and a slider over the steps of the run. */

import { Button } from '../components.tsx'
import { duration } from '../format.ts'
import type { RunsContext } from './runs-context.ts'
import type { RunStep } from './steps.ts'
import type { Timeline } from './timeline.ts'
import { type Replay, SPEEDS, type Speed } from './use-replay.ts'

interface PlayerProps {
  readonly context: RunsContext
  readonly replay: Replay
  readonly timeline: Timeline
  readonly steps: readonly RunStep[]
  readonly places: ReadonlyMap<number, readonly [number, number]>
}

export function Player({ context, replay, timeline, steps, places }: PlayerProps) {
  const { own, language } = context
  const { length, isShortened } = timeline
  const at = Math.round(Math.min(replay.at, length))
  return (
    <section
      class="flex flex-col gap-1.5 rounded-xl border border-line bg-surface px-4 py-3"
      aria-label={own.player}
      data-replay={replay.isPlaying ? 'playing' : 'paused'}
    >
      <div class="flex items-center gap-3">
        <Button onClick={replay.toggle}>{replay.isPlaying ? own.pause : own.play}</Button>
        <select
          class="h-8 rounded-md border border-line bg-surface px-2"
          aria-label={own.speed}
          value={replay.speed}
          onChange={({ currentTarget }) => replay.setSpeed(Number(currentTarget.value) as Speed)}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={speed}>
              {speed}×
            </option>
          ))}
        </select>
        <span class="label figures ml-auto">{own.atOf(duration(at, language), duration(length, language))}</span>
      </div>
      <Lane {...{ steps, places, length, at }} />
      <input
        class="w-full accent-[var(--decide)]"
        type="range"
        min={0}
        max={Math.max(1, length)}
        step="any"
        value={at}
        aria-label={own.position}
        aria-valuetext={own.atOf(duration(at, language), duration(length, language))}
        onInput={({ currentTarget }) => replay.seek(Number(currentTarget.value))}
      />
      {isShortened && <p class="label">{own.shortened}</p>}
    </section>
  )
}

interface LaneProps {
  readonly steps: readonly RunStep[]
  readonly places: ReadonlyMap<number, readonly [number, number]>
  readonly length: number
  readonly at: number
}

/** More steps than this would be thinner than a pixel. */
const MAX_BARS = 400

/** One bar per step, as long as the step took. */
function Lane({ steps, places, length, at }: LaneProps) {
  return (
    <div class="relative h-2 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
      {steps.slice(0, MAX_BARS).map(({ id, fault }) => {
        const [from, to] = places.get(id) ?? [0, 0]
        const place = { left: `${(from / (length || 1)) * 100}%`, width: `${((to - from) / (length || 1)) * 100}%` }
        const colour = fault === null ? 'bg-decide' : 'bg-fault'
        return (
          <span
            key={id}
            class={`absolute inset-y-0 min-w-px ${colour} ${from > at ? 'opacity-25' : ''}`}
            style={place}
          />
        )
      })}
    </div>
  )
}
