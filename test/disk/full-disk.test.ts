/** Commands and agents write on a disk that is nearly full. `npm run proofs` tries all sizes (full-disk-sweep.test.ts). */

import { test } from 'node:test'
import { checkCases } from './run-cases.ts'
import { whyNoDisk } from './small-disk.ts'

test(
  'E11, case 101: on a nearly full disk each file is wholly old or wholly new, and the command says which',
  {
    skip: whyNoDisk('tmpfs'),
  },
  (t) => checkCases(t, 'tmpfs', 'sample'),
)
