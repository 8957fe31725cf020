/**
 * Rows that today's version cannot read: everything else works, `doctor` names them, `doctor --fix` sets them
 * aside, and nothing is lost.
 */

import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { checkProperty } from '../support/garbage-values.ts'
import { anyDamage, columnsIn } from './damage-rows.ts'
import { keptSchemas } from './kept-homes.ts'
import { baseHome, checkDamagedHome } from './unreadable-home.ts'

/** Damaged homes per schema; `npm run garbage` tries more. */
const RUNS = 4

for (const schema of keptSchemas())
  describe(`a home of schema ${schema} with rows that cannot be read`, () => {
    test('any value of any table: lists, new work and start work; --fix loses nothing', async (t) => {
      const base = await baseHome(t, schema)
      const one = fc.tuple(fc.constantFrom(...columnsIn(join(base, 'tireless.db'))), anyDamage)
      await checkProperty(RUNS, fc.array(one, { minLength: 1, maxLength: 4 }), (all) => checkDamagedHome(t, base, all))
    })
  })
