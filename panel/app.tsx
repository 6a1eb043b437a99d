import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router';
import { sentenceOf } from './api/errors.ts';
import { givenInvitation, invitationPage, localReturn, registerPage, signInPage } from './api/paths.ts';
import { Empty, Skeleton } from './components/error-note.tsx';
import { Frame } from './components/frame.tsx';
import { Notices } from './components/notices.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { SignInAgain } from './pages/sign-in-again.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { startLive } from './state/live.ts';
import { useHash, useTitle } from './state/page.ts';
import { takeReturn } from './state/return-path.ts';
import { hasRegistered, isEnded, loadSession, session } from './state/session.ts';

const RepositoryPage = lazy(() => import('./pages/repository.tsx'));
const EnvironmentPage = lazy(() => import('./pages/environment.tsx'));
const GroupPage = lazy(() => import('./pages/group.tsx'));
const AccountPage = lazy(() => import('./pages/account.tsx'));
const CommandLinePage = lazy(() => import('./pages/sign-in-program.tsx'));
const DevicePage = lazy(() => import('./pages/sign-in-program.tsx').then(({ DevicePage: page }) => page));
const AccessPage = lazy(() => import('./pages/environment-access.tsx'));
const AccessPasswordPage = lazy(() => import('./pages/environment-access.tsx').then(({ PasswordPage: page }) => page));
const InvitationPage = lazy(() => import('./pages/invitation.tsx'));
const AdministrationPage = lazy(() => import('./pages/administration.tsx'));

export function App(): JSX.Element {
  return (
    <LocationProvider scope={/^\/(?!api\/)/}>
      <Content />
      <Notices />
    </LocationProvider>
  );
}

function Content(): JSX.Element | null {
  const { path, url, query, route } = useLocation();
  const hash = useHash();
  const { kind } = session.value;
  const isVisit = path === '/access' && query['mode'] === 'password' && kind === 'anonymous';
  const isOpen = path === '/sign-in' || path === '/register';
  // The overview needs no loading. Until a later page is loaded, the one before it stays.
  const hasPage = useRef(path === '/');
  const isLoading = useSignal(false);
  const returnTo = localReturn(query['return']);
  const invitation = isOpen || path === '/invitation' ? givenInvitation(query, hash) : undefined;
  // An account that exists accepts an invitation on a page of its own; a new one has accepted it by registering.
  const isAccepted = invitation !== undefined && hasRegistered.value;
  const afterSignIn = isAccepted ? '/' : invitation === undefined ? returnTo : invitationPage(invitation);
  useEffect(() => {
    // A link of an earlier version is shown, reloaded and copied as one of this version.
    if (invitation === undefined || query['invitation'] === undefined) return;
    route(path === '/register' ? registerPage(invitation) : invitationPage(invitation), true);
  }, [query['invitation']]);
  useEffect(() => {
    if (kind === 'anonymous' && path === '/invitation' && invitation !== undefined) {
      route(signInPage(invitation), true);
    } else if (kind === 'anonymous' && !isOpen && !isVisit) {
      const back = url === '/' ? '' : `?return=${encodeURIComponent(url)}`;
      route(`/sign-in${back}`, true);
    }
    if (session.value.kind === 'signed-in') {
      startLive(session.value.user.email);
      const stored = takeReturn();
      if (isOpen) route(stored ?? afterSignIn, true);
      else if (stored !== undefined && path === '/') route(stored, true);
    }
  }, [kind, isOpen]);
  if (session.value.kind === 'unreachable') {
    const { error } = session.value;
    return (
      <main class="page">
        <Empty title="The server did not answer" isPage>
          <p>{sentenceOf(error)}</p>
          <button type="button" onClick={() => void loadSession()}>
            Try again
          </button>
        </Empty>
      </main>
    );
  }
  if (isVisit) {
    return (
      <ErrorBoundary>
        <AccessPasswordPage />
      </ErrorBoundary>
    );
  }
  if (isOpen && kind === 'anonymous') return <SignInPage isRegistration={path === '/register'} />;
  if (kind === 'unknown') {
    return (
      <main class="page">
        <Skeleton what="the panel" />
      </main>
    );
  }
  if (kind !== 'signed-in' || isOpen) return null;
  return (
    <Frame>
      <ErrorBoundary>
        {isLoading.value && <Skeleton what="the page" />}
        <Router
          onLoadStart={() => (isLoading.value = !hasPage.current)}
          onLoadEnd={() => {
            hasPage.current = true;
            isLoading.value = false;
          }}
        >
          <Route path="/" component={OverviewPage} />
          <Route path="/groups/:id" component={GroupPage} />
          <Route path="/repositories/:id" component={RepositoryPage} />
          <Route path="/environments/:id" component={EnvironmentPage} />
          <Route path="/access" component={AccessPage} />
          <Route path="/account" component={AccountPage} />
          <Route path="/invitation" component={InvitationPage} />
          <Route path="/administration" component={AdministrationPage} />
          <Route path="/sign-in/command-line" component={CommandLinePage} />
          <Route path="/sign-in/device" component={DevicePage} />
          <Route default component={UnknownPage} />
        </Router>
      </ErrorBoundary>
      {isEnded.value && <SignInAgain />}
    </Frame>
  );
}

function UnknownPage(): JSX.Element {
  useTitle('No such page');
  return (
    <Empty title="No such page" isPage>
      <p>
        <a href="/">Go to the overview</a>
      </p>
    </Empty>
  );
}
