/** The tries as whoever runs this process; what came of them as JSON. */

import { outcomes } from './escapes.ts'

console.log(JSON.stringify(await outcomes()))
