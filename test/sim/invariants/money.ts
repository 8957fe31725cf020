/**
 * Money, compared with the provider's own bill: never above the cap, and every charge is covered by a booking (I11).
 */

import { MICROS_PER_USD } from '../../../src/domain/money.ts'
import type { World } from '../world.ts'

/** Contract: called whenever the bookings or the provider's bill may have changed. */
export function checkSpend(world: World): void {
  const { cap } = world.plan
  if (cap === undefined) return
  const { charged } = world.truth
  const row = world.db
    .prepare('SELECT coalesce(sum(usd + reserved), 0) AS booked, coalesce(min(reserved), 0) AS lowest FROM spend')
    .get()
  const [booked, lowest] = [Number(row?.booked), Number(row?.lowest)]
  if (charged > cap) world.fail('I11', `the provider charged ${dollars(charged)}, and the cap is ${dollars(cap)}`)
  if (booked < charged)
    world.fail('I11', `the provider charged ${dollars(charged)}, and only ${dollars(booked)} is booked`)
  if (booked > cap) world.fail('I11', `${dollars(booked)} is booked, and the cap is ${dollars(cap)}`)
  if (lowest < 0) world.fail('I11', `the reserved amount is ${dollars(lowest)}`)
  const reservedEach = world.db.prepare('SELECT coalesce(sum(usd), 0) AS n FROM reservations').get()
  const reservedTotal = world.db.prepare('SELECT coalesce(sum(reserved), 0) AS n FROM spend').get()
  if (reservedEach?.n !== reservedTotal?.n)
    world.fail('I11', `the reservations add up to ${reservedEach?.n}, and ${reservedTotal?.n} is reserved in total`)
}

const dollars = (micros: number): string => `${micros / MICROS_PER_USD} USD`
