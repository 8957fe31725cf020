/** The channel of several processes, and the real notifier that delivers to it. */

import { TirelessError } from '../../../src/domain/error.ts'
import { Notifier } from '../../../src/kernel/notify/notifier.ts'
import type { WakeSignal } from '../../../src/kernel/queue/wake-signal.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Store } from '../../../src/ports/store.ts'
import { NO_KERNEL } from '../absent-services.ts'
import type { SimProcess } from '../process.ts'
import { CHANNEL } from '../talk-plan.ts'
import type { World } from '../world.ts'
import { kernelSettings } from './kernel.ts'

/** Share of messages that the receiver does not accept at first. */
const TROUBLED = 0.1

export const simChannels = (world: World, proc: SimProcess): ReadonlyMap<string, Channel> =>
  new Map([[CHANNEL, simChannel(world, proc)]])

function simChannel(world: World, proc: SimProcess): Channel {
  const { deliveries } = world.several
  return {
    name: CHANNEL,
    trouble: () => null,
    async deliver({ id, text }, signal) {
      const onAbort = (): never => {
        throw new TirelessError('aborted', 'the delivery was interrupted')
      }
      const receive = (): void => {
        const nth = deliveries.attempt(id)
        if (nth === 1 && !world.faults.ended && world.chance('refused', id) < TROUBLED)
          throw new TirelessError('channel_unavailable', 'nobody is there')
        deliveries.accept(proc, id, text)
      }
      await world.io(proc, 'deliver', id, receive, { signal, onAbort })
      await world.io(proc, 'accepted', id, () => {}, { signal, onAbort })
    },
  }
}

interface NotifierParts {
  readonly store: Store
  readonly clock: Clock
  readonly wakeSignal: WakeSignal
}

export function simNotifier(world: World, proc: SimProcess, { store, clock, wakeSignal }: NotifierParts): Notifier {
  return new Notifier({
    ...{ store, clock, wakeSignal, channels: simChannels(world, proc) },
    settings: () => kernelSettings(world, world.plan.kernel ?? NO_KERNEL),
    redact: (text) => text,
    report: async () => undefined,
    ping: async () => {},
    log: () => {},
  })
}
