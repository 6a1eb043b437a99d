const answer = await fetch('http://127.0.0.1:3000/greeting');
process.exit(answer.ok ? 0 : 1);
