/** Every command that writes files of a home, with 26 sizes of free space, on two file systems. */

import { test } from 'node:test'
import { checkCases } from './run-cases.ts'
import { whyNoDisk } from './small-disk.ts'

for (const kind of ['tmpfs', 'ext4'] as const)
  test(
    `E11: with 0 to 256 KB left on ${kind}, each file is wholly old or wholly new, and the command says which`,
    {
      skip: whyNoDisk(kind),
    },
    (t) => checkCases(t, kind, 'all'),
  )
