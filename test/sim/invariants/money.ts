/** Money, held against the provider's own books: never more than the cap, and at every instant as much on our books as on theirs (I11). */

import { MICROS_PER_USD } from '../../../src/domain/money.ts'
import type { World } from '../world.ts'

/** Contract: called whenever our books or theirs may have changed. */
export function checkSpend(world: World): void {
  const { cap } = world.plan
  if (cap === undefined) return
  const { charged } = world.truth
  const row = world.db
    .prepare('SELECT coalesce(sum(usd + reserved), 0) AS booked, coalesce(min(reserved), 0) AS lowest FROM spend')
    .get()
  const [booked, lowest] = [Number(row?.booked), Number(row?.lowest)]
  if (charged > cap) world.fail('I11', `the provider charged ${dollars(charged)} of a cap of ${dollars(cap)}`)
  if (booked < charged)
    world.fail('I11', `the provider charged ${dollars(charged)}, and only ${dollars(booked)} are booked`)
  if (booked > cap) world.fail('I11', `${dollars(booked)} are booked under a cap of ${dollars(cap)}`)
  if (lowest < 0) world.fail('I11', `${dollars(lowest)} are set aside`)
  const reservedEach = world.db.prepare('SELECT coalesce(sum(usd), 0) AS n FROM reservations').get()
  const reservedTotal = world.db.prepare('SELECT coalesce(sum(reserved), 0) AS n FROM spend').get()
  if (reservedEach?.n !== reservedTotal?.n)
    world.fail('I11', `${reservedEach?.n} are set aside one by one, and ${reservedTotal?.n} in all`)
}

const dollars = (micros: number): string => `${micros / MICROS_PER_USD} USD`
