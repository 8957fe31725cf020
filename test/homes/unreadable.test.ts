/** B1: rows that today's version cannot read: everything else goes on, `doctor` names them, `doctor --fix` sets them aside, nothing is lost. */

import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { checkProperty } from '../support/garbage-values.ts'
import { columnsIn, damages } from './damage.ts'
import { keptSchemas } from './kept.ts'
import { baseHome, withDamage } from './unreadable-home.ts'

for (const schema of keptSchemas())
  describe(`a home of schema ${schema} with rows that cannot be read`, () => {
    test('B1: any value of any table: lists, new work and start go on; --fix sets aside what it names, and nothing is lost', async (t) => {
      const base = await baseHome(t, schema)
      const one = fc.tuple(fc.constantFrom(...columnsIn(join(base, 'tireless.db'))), damages)
      await checkProperty(12, fc.array(one, { minLength: 1, maxLength: 4 }), (all) => withDamage(t, base, all))
    })
  })
