/** Commands and agents write on a nearly full disk, or are killed. full-disk-sweep.test.ts tries all cases. */

import { test } from 'node:test'
import { checkCases } from './run-cases.ts'
import { checkKills } from './run-kills.ts'
import { whyNoDisk } from './small-disk.ts'

test(
  'E11, case 101: on a nearly full disk each file is wholly old or wholly new, and the command says which',
  {
    skip: whyNoDisk('tmpfs'),
  },
  (t) => checkCases(t, 'tmpfs', 'sample'),
)

test('E11: a kill in the middle of a write leaves each file wholly old or wholly new, and the home works', (t) =>
  checkKills(t, ['secrets set'], 4))
