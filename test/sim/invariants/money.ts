/** Money, held against the provider's own books: never more than the cap, and at every instant as much on our books as on theirs (I11). */

import { MICROS_PER_USD } from '../../../src/domain/money.ts'
import type { World } from '../world.ts'

/** Contract: called whenever our books or theirs may have changed. */
export function checkBooks(world: World): void {
  const { cap } = world.plan
  if (cap === undefined) return
  const { charged } = world.truth
  const row = world.db
    .prepare('SELECT coalesce(sum(usd + reserved), 0) AS booked, coalesce(min(reserved), 0) AS least FROM spend')
    .get()
  const [booked, least] = [Number(row?.booked), Number(row?.least)]
  if (charged > cap) world.fail('I11', `the provider charged ${dollars(charged)} of a cap of ${dollars(cap)}`)
  if (booked < charged)
    world.fail('I11', `the provider charged ${dollars(charged)}, and only ${dollars(booked)} are booked`)
  if (booked > cap) world.fail('I11', `${dollars(booked)} are booked under a cap of ${dollars(cap)}`)
  if (least < 0) world.fail('I11', `${dollars(least)} are set aside`)
  const kept = world.db.prepare('SELECT coalesce(sum(usd), 0) AS n FROM reservations').get()
  const aside = world.db.prepare('SELECT coalesce(sum(reserved), 0) AS n FROM spend').get()
  if (kept?.n !== aside?.n) world.fail('I11', `${kept?.n} are set aside one by one, and ${aside?.n} in all`)
}

const dollars = (micros: number): string => `${micros / MICROS_PER_USD} USD`
