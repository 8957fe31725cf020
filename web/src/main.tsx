/** Entry point of the page. */

import './style.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme, storedTheme } from './shell/theme.ts'

applyTheme(storedTheme())
const root = document.getElementById('page')
if (root) render(<App />, root)
