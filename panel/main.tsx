import { render } from 'preact';
import { App } from './app.tsx';
import { loadSession } from './state/session.ts';
import './styles/main.css';

const root = document.getElementById('panel');
if (root) render(<App />, root);
void loadSession();
